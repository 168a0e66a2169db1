//! Loops of every shape. Each counts its iterations and ends after a few.

use super::body::{Body, Loop, Scope};
use crate::module::Id;
use crate::op;

/// Loop shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The header tests the condition.
    While,
    /// A block after the header tests the condition.
    For,
    /// The back-edge block tests the condition.
    DoWhile,
    /// One block is header, continue target and back-edge block.
    Single,
    /// The header branches directly to the continue target.
    HeaderOnly,
    /// The loop is left only by jumps.
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

/// Ids of a loop under construction, and words to patch.
struct Frame {
    header: Id,
    merge: Id,
    target: Id,
    limit: Id,
    counter: Id,
    next_counter: Id,
    /// Word offsets in the code of the back edge's operands: value and label in the phi of the carried value, and label in
    /// the phi of the counter.
    patches: [usize; 2],
}

impl Body<'_> {
    pub(super) fn emit_loop(&mut self, depth: u32) {
        let shape = self.choices.pick(&SHAPES).unwrap_or(Shape::While);
        let rounds = self.choices.between(1, 3);
        if !self.can_afford(30 * (rounds + 1)) {
            return self.straight_line();
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

    /// Emits the header up to its merge instruction, with a counter and a carried value.
    fn head(&mut self, shape: Shape, rounds: u32) -> Frame {
        let (uint, zero, mut limit) = (self.uint(), self.constant(0), self.constant(rounds));
        let endless = self.options.endless;
        if endless > 0 && self.choices.chance(endless) {
            let mask = if self.choices.chance(endless) { u32::MAX } else { 0 };
            let mask = self.constant(mask);
            limit = self.emit(op::BitwiseOr, uint, &[limit, mask]);
        }
        let [header, merge, next, counter, next_counter, carried] = [(); 6].map(|()| self.fresh());
        let initial = self.any_uint();
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

    /// Completes the header's phis with the back edge from the current block.
    fn close(&mut self, frame: &Frame) {
        let value = self.any_uint();
        let [carried, counter] = frame.patches;
        for (at, word) in [(carried, value), (carried + 1, self.label), (counter, self.label)] {
            if let Some(slot) = self.code.get_mut(at) {
                *slot = word;
            }
        }
    }

    fn loop_merge(&mut self, frame: &Frame) {
        self.emit_void(op::LoopMerge, &[frame.merge, frame.target, 0]);
    }

    fn advance_counter(&mut self, frame: &Frame) {
        let (uint, one) = (self.uint(), self.constant(1));
        self.emit_as(frame.next_counter, op::IAdd, uint, &[frame.counter, one]);
    }

    fn continue_condition(&mut self, counter: Id, frame: &Frame) -> Id {
        let bool = self.bool();
        let more = self.emit(op::ULessThan, bool, &[counter, frame.limit]);
        if self.choices.chance(30) {
            let also = self.any_bool();
            return self.emit(op::LogicalAnd, bool, &[more, also]);
        }
        more
    }

    /// A loop of one block, which is also its continue construct.
    fn single_block(&mut self, frame: &Frame) {
        self.loops.push(None);
        self.straight_lines(3);
        self.advance_counter(frame);
        let more = self.continue_condition(frame.next_counter, frame);
        self.close(frame);
        let edge = (self.any_uint(), self.label);
        self.loop_merge(frame);
        self.emit_void(op::BranchConditional, &[more, frame.header, frame.merge]);
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
        self.straight_lines(2);
        let body = self.fresh();
        // Whether the continue construct can exit the loop.
        let mut leaves_from_continue = shape == Shape::DoWhile;
        let mut test_scope: Option<Scope> = None;
        let header_scope;
        match shape {
            Shape::While => {
                let more = self.continue_condition(frame.counter, frame);
                self.add_break();
                header_scope = self.scope.clone();
                self.loop_merge(frame);
                self.emit_void(op::BranchConditional, &[more, body, frame.merge]);
            }
            Shape::For => {
                header_scope = self.scope.clone();
                let test = self.fresh();
                self.loop_merge(frame);
                self.branch(test);
                self.begin(test);
                self.straight_lines(2);
                let more = self.continue_condition(frame.counter, frame);
                self.add_break();
                test_scope = Some(self.scope.clone());
                self.emit_void(op::BranchConditional, &[more, body, frame.merge]);
            }
            Shape::HeaderOnly => {
                leaves_from_continue = self.choices.chance(50);
                let more = self.continue_condition(frame.counter, frame);
                self.add_continue();
                if !leaves_from_continue {
                    self.add_break();
                }
                header_scope = self.scope.clone();
                self.loop_merge(frame);
                if leaves_from_continue {
                    self.branch(frame.target);
                } else {
                    self.emit_void(op::BranchConditional, &[more, frame.target, frame.merge]);
                }
            }
            _ => {
                header_scope = self.scope.clone();
                self.loop_merge(frame);
                self.branch(body);
            }
        }
        if shape != Shape::HeaderOnly {
            self.begin(body);
            if shape == Shape::Endless {
                self.break_at_limit(frame);
            }
            let count = self.choices.below(4);
            self.statements(count, depth);
            if self.open {
                self.add_continue();
                self.branch(frame.target);
            }
        }
        let body_scope = std::mem::replace(&mut self.scope, header_scope.clone());
        let Some(Some(innermost)) = self.loops.pop() else {
            return;
        };
        let Loop {
            mut breaks, continues, ..
        } = innermost;
        if continues.len() == 1 && shape != Shape::Endless {
            // With a single edge, the continue target sees values of the body only if the edge comes from the body's last block.
            if continues.first().is_some_and(|(_, from)| *from == self.label) {
                self.scope = body_scope;
            }
        }
        let edge = self.continue_construct(frame, &continues, leaves_from_continue, depth);
        let only_exit = breaks.is_empty();
        breaks.extend(edge);
        let tested = breaks.len() == 1 && shape == Shape::For;
        if !(leaves_from_continue && only_exit) {
            self.scope = test_scope.filter(|_| tested).unwrap_or(header_scope);
        }
        self.merge(frame.merge, &breaks);
    }

    /// Emits the continue construct. Returns its edge to the merge block, if it can exit the loop.
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
            self.phi(continues);
            let count = self.choices.below(4);
            self.statements(count, depth.min(1));
        }
        self.advance_counter(frame);
        let edge = leaves.then(|| {
            let more = self.continue_condition(frame.next_counter, frame);
            let value = self.any_uint();
            (more, value)
        });
        self.close(frame);
        let label = self.label;
        match edge {
            Some((more, _)) => self.emit_void(op::BranchConditional, &[more, frame.header, frame.merge]),
            None => self.branch(frame.header),
        }
        self.loops.pop();
        edge.map(|(_, value)| (value, label))
    }

    fn break_at_limit(&mut self, frame: &Frame) {
        let bool = self.bool();
        let stop = self.emit(op::UGreaterThanEqual, bool, &[frame.counter, frame.limit]);
        let [yes, next] = [(); 2].map(|()| self.fresh());
        self.branch_if(stop, [yes, next], next);
        let outer = self.scope.clone();
        self.begin(yes);
        if self.in_continue() || self.choices.chance(75) {
            self.add_break();
            self.branch(frame.merge);
        } else {
            self.emit_return();
        }
        self.scope = outer;
        self.begin(next);
    }

    fn add_break(&mut self) {
        self.add_edge(|innermost| &mut innermost.breaks);
    }

    fn add_continue(&mut self) {
        self.add_edge(|innermost| &mut innermost.continues);
    }

    fn add_edge(&mut self, list: fn(&mut Loop) -> &mut Vec<(Id, Id)>) {
        let edge = (self.any_uint(), self.label);
        if let Some(Some(innermost)) = self.loops.last_mut() {
            list(innermost).push(edge);
        }
    }
}
