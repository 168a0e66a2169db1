//! Selections, and the jumps out of them.

use super::body::Body;
use crate::module::Id;
use crate::op;

impl Body<'_> {
    /// Ends a construct: its merge block, with a phi of what comes in. `edges` are values and the blocks they come from.
    pub(super) fn merge(&mut self, label: Id, edges: &[(Id, Id)]) {
        self.begin(label);
        if edges.is_empty() {
            self.act(op::Unreachable, &[]);
            return;
        }
        let uint = self.world.builder.uint();
        let operands: Vec<u32> = edges.iter().flat_map(|(value, from)| [*value, *from]).collect();
        let phi = self.emit(op::Phi, uint, &operands);
        self.scope.uints.push(phi);
    }

    /// The statements of an arm. If it gets to its end, what it brings to the merge block.
    fn arm(&mut self, label: Id, depth: u32) -> Option<(Id, Id)> {
        self.begin(label);
        let count = self.choices.below(4);
        self.statements(count, depth);
        if self.open && self.choices.chance(10) && self.can_jump() {
            self.jump();
        }
        self.open.then(|| {
            let value = self.uint();
            (value, self.label)
        })
    }

    /// `if`, with or without `else`.
    pub(super) fn selection(&mut self, depth: u32) {
        let condition = self.bool();
        let [yes, no, merge] = [(); 3].map(|()| self.world.builder.fresh());
        let with_else = self.choices.chance(50);
        let mut edges = Vec::new();
        let mut target = no;
        if !with_else {
            target = merge;
            let value = self.uint();
            edges.push((value, self.label));
        }
        self.act(op::SelectionMerge, &[merge, 0]);
        let targets = if self.choices.chance(30) {
            [target, yes]
        } else {
            [yes, target]
        };
        self.act(op::BranchConditional, &[condition, targets[0], targets[1]]);
        let outer = self.scope.clone();
        let arms = if with_else { vec![yes, no] } else { vec![yes] };
        for arm in arms {
            self.scope = outer.clone();
            if let Some(edge) = self.arm(arm, depth) {
                edges.push(edge);
                self.branch(merge);
            }
        }
        self.scope = outer;
        self.merge(merge, &edges);
    }

    /// `switch`, with cases that fall through, with or without a default.
    pub(super) fn switch(&mut self, depth: u32) {
        let uint = self.world.builder.uint();
        let (value, three) = (self.uint(), self.world.builder.constant(3));
        let selector = self.emit(op::BitwiseAnd, uint, &[value, three]);
        let header = self.label;
        let count = self.choices.between(1, 3) as usize;
        let cases: Vec<Id> = (0..count).map(|_| self.world.builder.fresh()).collect();
        let merge = self.world.builder.fresh();
        let default = self.choices.chance(50).then(|| self.world.builder.fresh());
        let mut edges = Vec::new();
        let passed = self.uint();
        if default.is_none() {
            edges.push((passed, header));
        }
        self.act(op::SelectionMerge, &[merge, 0]);
        let mut operands = vec![selector, default.unwrap_or(merge)];
        for (number, case) in (0..).zip(&cases) {
            operands.extend([number, *case]);
            if number == 0 && self.choices.chance(20) {
                operands.extend([3, *case]);
            }
        }
        self.act(op::Switch, &operands);
        let outer = self.scope.clone();
        let mut falling: Option<(Id, Id)> = None;
        for (number, case) in cases.iter().chain(&default).enumerate() {
            self.scope = outer.clone();
            let fallen = falling.take();
            let phi = fallen.map(|edge| [passed, header, edge.0, edge.1]);
            let end = self.case(*case, phi, depth);
            let Some(edge) = end else { continue };
            let next = cases.get(number + 1).copied().filter(|_| self.choices.chance(30));
            match next {
                Some(next) => {
                    falling = Some(edge);
                    self.branch(next);
                }
                None => {
                    edges.push(edge);
                    self.branch(merge);
                }
            }
        }
        self.scope = outer;
        self.merge(merge, &edges);
    }

    fn case(&mut self, label: Id, phi: Option<[Id; 4]>, depth: u32) -> Option<(Id, Id)> {
        let Some(operands) = phi else {
            return self.arm(label, depth);
        };
        self.begin(label);
        let uint = self.world.builder.uint();
        let phi = self.emit(op::Phi, uint, &operands);
        self.scope.uints.push(phi);
        self.straights(2);
        Some((phi, self.label))
    }

    /// Leaves the innermost loop's body or the function, if a condition holds.
    pub(super) fn jump_if(&mut self) {
        let condition = self.bool();
        let [yes, go] = [(); 2].map(|()| self.world.builder.fresh());
        self.act(op::SelectionMerge, &[go, 0]);
        self.act(op::BranchConditional, &[condition, yes, go]);
        let outer = self.scope.clone();
        self.begin(yes);
        self.straights(1);
        self.jump();
        self.scope = outer;
        self.begin(go);
    }

    /// Whether there is a way out from here.
    pub(super) fn can_jump(&self) -> bool {
        !self.in_continue() || matches!(self.loops.last(), Some(Some(_)))
    }

    /// `break`, `continue` or `return`.
    pub(super) fn jump(&mut self) {
        let value = self.uint();
        let label = self.label;
        // Inside a continue construct only loops of its own may be left.
        let choice = self.choices.below(if self.in_continue() { 2 } else { 3 });
        match (self.loops.last_mut(), choice) {
            (Some(Some(around)), 0) => {
                around.breaks.push((value, label));
                let merge = around.merge;
                self.branch(merge);
            }
            (Some(Some(around)), 1) => {
                around.continues.push((value, label));
                let target = around.target;
                self.branch(target);
            }
            _ => self.leave(),
        }
    }

    /// Aborts, here or on a line of the source.
    fn abort(&mut self, ty: Id, message: Id) {
        if self.choices.chance(40) {
            let (file, line) = (self.world.file, self.choices.between(1, 999));
            self.act(op::Line, &[file, line, 7]);
        }
        self.act(op::AbortKHR, &[ty, message]);
    }

    /// Aborts if it is time to.
    pub(super) fn abort_if_due(&mut self) {
        let bool = self.world.builder.bool();
        let due = self.world.due;
        let [abort, go] = [(); 2].map(|()| self.world.builder.fresh());
        let early = self.choices.chance(40).then(|| self.message(true));
        let condition = self.emit(op::FunctionCall, bool, &[due]);
        // As much as `due` takes.
        self.cost = self.cost.saturating_add(10 * self.times);
        self.act(op::SelectionMerge, &[go, 0]);
        self.act(op::BranchConditional, &[condition, abort, go]);
        let outer = self.scope.clone();
        self.begin(abort);
        let (ty, message) = early.unwrap_or_else(|| {
            self.straights(1);
            self.message(false)
        });
        self.abort(ty, message);
        self.scope = outer;
        self.begin(go);
        if self.choices.chance(3) {
            // Every way aborts.
            let (ty, message) = self.message(false);
            self.abort(ty, message);
        }
    }
}
