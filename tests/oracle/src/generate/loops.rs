//! Loops of every shape. Each counts its iterations and ends after a few.

use super::body::{Body, Loop, Scope};
use crate::module::Id;
use crate::op;

/// Shapes of loops, in the words of structured control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The header tests.
    While,
    /// A block after the header tests.
    For,
    /// The back-edge block tests.
    DoWhile,
    /// One block is header, continue target and back-edge block.
    Single,
    /// The header goes to the continue target at once.
    HeaderOnly,
    /// Only jumps leave it.
    Endless,
}

const SHAPES: [Shape; 6] = [
    Shape::While,
    Shape::For,
    Shape::DoWhile,
    Shape::Single,
    Shape::HeaderOnly,
    Shape::Endless,
];

/// Ids and places of a loop being made.
struct Frame {
    header: Id,
    merge: Id,
    target: Id,
    limit: Id,
    counter: Id,
    next_counter: Id,
    /// Index in the code of the back edge's (value, label) in the phi of the carried value, and its label in that of the
    /// counter.
    patches: [usize; 2],
}

impl Body<'_> {
    pub(super) fn repeat(&mut self, depth: u32) {
        let shape = self.choices.pick(&SHAPES).unwrap_or(Shape::While);
        let rounds = self.choices.between(1, 3);
        if !self.can_afford(30 * (rounds + 1)) {
            return self.straight();
        }
        let before = self.times;
        self.times *= rounds + 1;
        let frame = self.head(shape, rounds);
        match shape {
            Shape::Single => self.single_block(&frame),
            _ => self.with_body(shape, &frame, depth),
        }
        self.times = before;
    }

    /// The header up to its merge instruction, with a counter and a value that is carried round.
    fn head(&mut self, shape: Shape, rounds: u32) -> Frame {
        let builder = &mut self.world.builder;
        let uint = builder.uint();
        let (zero, limit) = (builder.constant(0), builder.constant(rounds));
        let [header, merge, next, counter, next_counter, carried] = [(); 6].map(|()| builder.fresh());
        let initial = self.uint();
        let from = self.label;
        self.branch(header);
        self.begin(header);
        self.emit_as(counter, op::Phi, uint, &[zero, from, next_counter, 0]);
        let counter_patch = self.code.len() - 1;
        self.emit_as(carried, op::Phi, uint, &[initial, from, 0, 0]);
        let carried_patch = self.code.len() - 2;
        self.scope.uints.extend([counter, carried]);
        Frame {
            header,
            merge,
            target: if shape == Shape::Single { header } else { next },
            limit,
            counter,
            next_counter,
            patches: [carried_patch, counter_patch],
        }
    }

    /// The back edge comes from the block being made: completes the phis of the header.
    fn close(&mut self, frame: &Frame) {
        let value = self.uint();
        let [carried, counter] = frame.patches;
        for (at, word) in [(carried, value), (carried + 1, self.label), (counter, self.label)] {
            if let Some(slot) = self.code.get_mut(at) {
                *slot = word;
            }
        }
    }

    fn count_on(&mut self, frame: &Frame) {
        let (uint, one) = (self.world.builder.uint(), self.world.builder.constant(1));
        self.emit_as(frame.next_counter, op::IAdd, uint, &[frame.counter, one]);
    }

    fn goes_on(&mut self, counter: Id, frame: &Frame) -> Id {
        let bool = self.world.builder.bool();
        let more = self.emit(op::ULessThan, bool, &[counter, frame.limit]);
        if self.choices.chance(30) {
            let also = self.bool();
            return self.emit(op::LogicalAnd, bool, &[more, also]);
        }
        more
    }

    /// A loop of one block, which is its own continue construct.
    fn single_block(&mut self, frame: &Frame) {
        self.loops.push(None);
        self.straights(3);
        self.count_on(frame);
        let more = self.goes_on(frame.next_counter, frame);
        self.close(frame);
        let edge = (self.uint(), self.label);
        self.act(op::LoopMerge, &[frame.merge, frame.target, 0]);
        self.act(op::BranchConditional, &[more, frame.header, frame.merge]);
        self.loops.pop();
        self.merge(frame.merge, &[edge]);
    }

    fn with_body(&mut self, shape: Shape, frame: &Frame, depth: u32) {
        self.loops.push(Some(Loop {
            merge: frame.merge,
            target: frame.target,
            breaks: Vec::new(),
            continues: Vec::new(),
        }));
        self.straights(2);
        let body = self.world.builder.fresh();
        // Leaves the loop from here, where the shape does.
        let mut leaves_from_continue = shape == Shape::DoWhile;
        let mut test_scope: Option<Scope> = None;
        let header_scope;
        match shape {
            Shape::While => {
                let more = self.goes_on(frame.counter, frame);
                self.add_break();
                header_scope = self.scope.clone();
                self.act(op::LoopMerge, &[frame.merge, frame.target, 0]);
                self.act(op::BranchConditional, &[more, body, frame.merge]);
            }
            Shape::For => {
                header_scope = self.scope.clone();
                let test = self.world.builder.fresh();
                self.act(op::LoopMerge, &[frame.merge, frame.target, 0]);
                self.branch(test);
                self.begin(test);
                self.straights(2);
                let more = self.goes_on(frame.counter, frame);
                self.add_break();
                test_scope = Some(self.scope.clone());
                self.act(op::BranchConditional, &[more, body, frame.merge]);
            }
            Shape::HeaderOnly => {
                leaves_from_continue = self.choices.chance(50);
                let more = self.goes_on(frame.counter, frame);
                self.add_continue();
                if !leaves_from_continue {
                    self.add_break();
                }
                header_scope = self.scope.clone();
                self.act(op::LoopMerge, &[frame.merge, frame.target, 0]);
                if leaves_from_continue {
                    self.branch(frame.target);
                } else {
                    self.act(op::BranchConditional, &[more, frame.target, frame.merge]);
                }
            }
            _ => {
                header_scope = self.scope.clone();
                self.act(op::LoopMerge, &[frame.merge, frame.target, 0]);
                self.branch(body);
            }
        }
        if shape != Shape::HeaderOnly {
            self.begin(body);
            if shape == Shape::Endless {
                self.stop_at_limit(frame);
            }
            let count = self.choices.below(4);
            self.statements(count, depth);
            if self.open {
                self.add_continue();
                self.branch(frame.target);
            }
        }
        let body_scope = std::mem::replace(&mut self.scope, header_scope.clone());
        let Some(Some(around)) = self.loops.pop() else { return };
        let Loop {
            mut breaks, continues, ..
        } = around;
        if continues.len() == 1 && shape != Shape::Endless {
            // One way leads to the continue target: values of the body are at hand in it only if it is the body's end.
            if continues.first().is_some_and(|(_, from)| *from == self.label) {
                self.scope = body_scope;
            }
        }
        let edge = self.continue_construct(frame, &continues, leaves_from_continue, depth);
        let only_way_out = breaks.is_empty();
        breaks.extend(edge);
        let tested = breaks.len() == 1 && shape == Shape::For;
        if !(leaves_from_continue && only_way_out) {
            self.scope = test_scope.filter(|_| tested).unwrap_or(header_scope);
        }
        self.merge(frame.merge, &breaks);
    }

    /// The continue construct. If it may leave the loop, what it brings to the merge block.
    fn continue_construct(
        &mut self,
        frame: &Frame,
        continues: &[(Id, Id)],
        leaves: bool,
        depth: u32,
    ) -> Option<(Id, Id)> {
        self.loops.push(None);
        self.begin(frame.target);
        if !continues.is_empty() {
            let uint = self.world.builder.uint();
            let operands: Vec<u32> = continues.iter().flat_map(|(value, from)| [*value, *from]).collect();
            let phi = self.emit(op::Phi, uint, &operands);
            self.scope.uints.push(phi);
            let count = self.choices.below(4);
            self.statements(count, depth.min(1));
        }
        self.count_on(frame);
        let edge = leaves.then(|| {
            let more = self.goes_on(frame.next_counter, frame);
            let value = self.uint();
            (more, value)
        });
        self.close(frame);
        let label = self.label;
        match edge {
            Some((more, _)) => self.act(op::BranchConditional, &[more, frame.header, frame.merge]),
            None => self.branch(frame.header),
        }
        self.loops.pop();
        edge.map(|(_, value)| (value, label))
    }

    fn stop_at_limit(&mut self, frame: &Frame) {
        let bool = self.world.builder.bool();
        let stop = self.emit(op::UGreaterThanEqual, bool, &[frame.counter, frame.limit]);
        let [yes, go] = [(); 2].map(|()| self.world.builder.fresh());
        self.act(op::SelectionMerge, &[go, 0]);
        self.act(op::BranchConditional, &[stop, yes, go]);
        let outer = self.scope.clone();
        self.begin(yes);
        if self.in_continue() || self.choices.chance(75) {
            self.add_break();
            self.branch(frame.merge);
        } else {
            self.leave();
        }
        self.scope = outer;
        self.begin(go);
    }

    fn add_break(&mut self) {
        let edge = (self.uint(), self.label);
        if let Some(Some(around)) = self.loops.last_mut() {
            around.breaks.push(edge);
        }
    }

    fn add_continue(&mut self) {
        let edge = (self.uint(), self.label);
        if let Some(Some(around)) = self.loops.last_mut() {
            around.continues.push(edge);
        }
    }
}
