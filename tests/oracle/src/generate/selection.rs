//! Selections and jumps.

use super::body::Body;
use crate::module::Id;
use crate::op;

impl Body<'_> {
    /// Ends a construct: starts its merge block with a phi of the incoming `edges` (values and blocks).
    pub(super) fn merge(&mut self, label: Id, edges: &[(Id, Id)]) {
        self.begin(label);
        if edges.is_empty() {
            self.emit_void(op::Unreachable, &[]);
            return;
        }
        self.phi(edges);
    }

    /// Emits the statements of an arm. Returns its edge to the merge block, unless it ends otherwise.
    fn arm(&mut self, label: Id, depth: u32) -> Option<(Id, Id)> {
        self.begin(label);
        let count = self.choices.below(4);
        self.statements(count, depth);
        if self.open && self.choices.chance(10) && self.can_jump() {
            self.emit_jump();
        }
        self.open.then(|| {
            let value = self.any_uint();
            (value, self.label)
        })
    }

    /// Emits an `if`, with or without `else`.
    pub(super) fn selection(&mut self, depth: u32) {
        let condition = self.any_bool();
        let [yes, no, merge] = [(); 3].map(|()| self.fresh());
        let mut arms = vec![yes, no];
        let mut edges = Vec::new();
        if !self.choices.chance(50) {
            arms.pop();
            edges.push((self.any_uint(), self.label));
        }
        let mut targets = [yes, arms.get(1).copied().unwrap_or(merge)];
        if self.choices.chance(30) {
            targets.reverse();
        }
        self.branch_if(condition, targets, merge);
        let outer = self.scope.clone();
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

    /// Emits a `switch` with fallthrough, with or without a default.
    pub(super) fn switch(&mut self, depth: u32) {
        let uint = self.uint();
        let (value, three) = (self.any_uint(), self.constant(3));
        let selector = self.emit(op::BitwiseAnd, uint, &[value, three]);
        let header = self.label;
        let count = self.choices.between(1, 3) as usize;
        let cases: Vec<Id> = (0..count).map(|_| self.fresh()).collect();
        let merge = self.fresh();
        let default = self.choices.chance(50).then(|| self.fresh());
        let mut edges = Vec::new();
        let passed = self.any_uint();
        if default.is_none() {
            edges.push((passed, header));
        }
        self.emit_void(op::SelectionMerge, &[merge, 0]);
        let mut operands = vec![selector, default.unwrap_or(merge)];
        for (number, case) in (0..).zip(&cases) {
            operands.extend([number, *case]);
            if number == 0 && self.choices.chance(20) {
                operands.extend([3, *case]);
            }
        }
        self.emit_void(op::Switch, &operands);
        let outer = self.scope.clone();
        let mut falling: Option<(Id, Id)> = None;
        for (number, case) in cases.iter().chain(&default).enumerate() {
            self.scope = outer.clone();
            let fallen = falling.take();
            let phi = fallen.map(|edge| [(passed, header), edge]);
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

    fn case(&mut self, label: Id, phi: Option<[(Id, Id); 2]>, depth: u32) -> Option<(Id, Id)> {
        let Some(edges) = phi else {
            return self.arm(label, depth);
        };
        self.begin(label);
        let phi = self.phi(&edges);
        self.straight_lines(2);
        Some((phi, self.label))
    }

    /// Leaves the innermost loop's body or the function if a condition holds.
    pub(super) fn emit_jump_if(&mut self) {
        let condition = self.any_bool();
        let [yes, next] = [(); 2].map(|()| self.fresh());
        self.branch_if(condition, [yes, next], next);
        let outer = self.scope.clone();
        self.begin(yes);
        self.straight_lines(1);
        self.emit_jump();
        self.scope = outer;
        self.begin(next);
    }

    /// Whether a jump is possible here.
    pub(super) fn can_jump(&self) -> bool {
        !self.in_continue() || matches!(self.loops.last(), Some(Some(_)))
    }

    /// Emits `break`, `continue` or `return`.
    pub(super) fn emit_jump(&mut self) {
        let value = self.any_uint();
        let label = self.label;
        // In a continue construct, only loops inside it can be left.
        let choice = self.choices.below(if self.in_continue() { 2 } else { 3 });
        match (self.loops.last_mut(), choice) {
            (Some(Some(innermost)), 0) => {
                innermost.breaks.push((value, label));
                let merge = innermost.merge;
                self.branch(merge);
            }
            (Some(Some(innermost)), 1) => {
                innermost.continues.push((value, label));
                let target = innermost.target;
                self.branch(target);
            }
            _ => self.emit_return(),
        }
    }

    /// Emits an abort, sometimes with a source line.
    fn abort(&mut self, ty: Id, message: Id) {
        if self.choices.chance(40) {
            let (file, line) = (self.globals.file, self.choices.between(1, 999));
            self.emit_void(op::Line, &[file, line, 7]);
        }
        self.emit_void(op::AbortKHR, &[ty, message]);
    }

    /// Emits an abort that is taken when `due` returns true.
    pub(super) fn abort_if_due(&mut self) {
        let bool = self.bool();
        let due = self.globals.due;
        let [abort, next] = [(); 2].map(|()| self.fresh());
        let early = self.choices.chance(40).then(|| self.message(true));
        let condition = self.emit(op::FunctionCall, bool, &[due]);
        // Cost of `due`.
        self.cost = self.cost.saturating_add(10 * self.times);
        self.branch_if(condition, [abort, next], next);
        let outer = self.scope.clone();
        self.begin(abort);
        let (ty, message) = early.unwrap_or_else(|| {
            self.straight_lines(1);
            self.message(false)
        });
        self.abort(ty, message);
        self.scope = outer;
        self.begin(next);
        if self.choices.chance(3) {
            // Every path aborts.
            let (ty, message) = self.message(false);
            self.abort(ty, message);
        }
    }
}
