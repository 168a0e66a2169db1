//! Trip counts: upper limits on the iterations of loops that count to a constant by a constant step, of those that shift or divide a number
//! by a constant, and of those whose back edge is never taken.
//!
//! ```text
//! %i = Phi %int %zero %entry %next %continue      Store %i %zero
//! %c = SLessThan %bool %i %ten                    %v = Load %int %i, %c = SLessThan %bool %v %ten
//! %next = IAdd %int %i %one                       %v = Load %int %i, %w = IAdd %int %v %one, Store %i %w
//! ```
//!
//! Conservative: a loop that the analysis does not understand may run for ever. The count is a closed form modulo the width of the
//! counter, so overflow and every comparison are as the shader has them (`progression`).

mod constants;
mod induction;
mod progression;
mod shifting;
#[cfg(test)]
mod tests;

use crate::loop_nest::Loop;
use crate::view::FunctionView;
pub use constants::Constants;
use induction::Inductions;
use rustc_hash::FxHashSet as HashSet;
use std::collections::BTreeSet;
use vkabort_spirv::index::Block;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, op};

/// The loops of one function.
pub struct TripCounts<'v, 'a, 'w> {
    view: &'v FunctionView<'a, 'w>,
    constants: &'v Constants<'v>,
}

/// A condition under which a loop goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Condition {
    id: Id,
    expected: bool,
}

impl<'v, 'a, 'w> TripCounts<'v, 'a, 'w> {
    pub fn new(view: &'v FunctionView<'a, 'w>, constants: &'v Constants<'v>) -> Self {
        Self { view, constants }
    }

    /// The most iterations of a loop, counted by how often the code behind its test is executed. `None`: not known.
    /// O(instructions of the loop).
    pub fn most(&self, l: &Loop) -> Option<u64> {
        let mut back = self.predecessors(l, l.header);
        let Some(back) = back.next().filter(|_| back.next().is_none()) else {
            // Without a back edge nothing is repeated; a valid loop has at most one.
            return self.predecessors(l, l.header).next().is_none().then_some(1);
        };
        let repeating = self.repeating(l, back);
        if !repeating.contains(&l.header) {
            return Some(1);
        }
        let nest = self.view.loops();
        let own = nest.innermost(l.header);
        let mut inductions = Inductions::new(self.view, self.constants, l, back);
        let mut seen = HashSet::default();
        let mut most: Option<u64> = None;
        for number in &l.blocks {
            // The test is made once in every iteration.
            if nest.innermost(*number) != own || !self.view.graph.dominates(*number, back) {
                continue;
            }
            let Some(block) = self.view.index.blocks.get(*number) else {
                continue;
            };
            let Some(condition) = self.condition(l, *number, block, back, &repeating) else {
                continue;
            };
            let is_behind = *number == back || l.continues.contains(number);
            let before_test = u64::from(is_behind || !self.is_first(l, *number));
            for comparison in self.comparisons(l, condition, &mut seen) {
                if let Some(passes) = passes(&mut inductions, comparison) {
                    let count = passes.saturating_add(before_test);
                    most = Some(most.map_or(count, |most| most.min(count)));
                }
            }
        }
        most
    }

    /// The blocks of a loop that branch to a block.
    fn predecessors<'l>(&'l self, l: &'l Loop, block: BlockIndex) -> impl Iterator<Item = BlockIndex> + 'l {
        let all = self.view.graph.predecessors(block).iter().copied();
        all.filter(|from| l.blocks.contains(from))
    }

    /// Whether the header leads to a block without a branch.
    fn is_first(&self, l: &Loop, block: BlockIndex) -> bool {
        let mut at = l.header;
        while at != block {
            match self.view.graph.successors(at) {
                [next] if *next > at => at = *next,
                _ => return false,
            }
        }
        true
    }

    /// Whether a block may branch to another: not if a constant condition excludes it.
    fn takes(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let index = self.view.index;
        let labels = index.blocks.get(from).zip(index.blocks.get(to));
        labels.is_some_and(|(from, to)| {
            let branch = index.terminator(from);
            let is_conditional = branch.opcode() == op::BranchConditional;
            match index.opcode(branch.condition()) {
                op::ConstantTrue if is_conditional => branch.true_label() == to.label,
                op::ConstantFalse if is_conditional => branch.false_label() == to.label,
                _ => true,
            }
        })
    }

    /// Blocks of a loop from which the back edge can be taken in the same iteration.
    fn repeating(&self, l: &Loop, back: BlockIndex) -> BTreeSet<BlockIndex> {
        let mut found = BTreeSet::new();
        let mut worklist = Vec::new();
        if self.takes(back, l.header) {
            found.insert(back);
            worklist.push(back);
        }
        while let Some(block) = worklist.pop().filter(|block| *block != l.header) {
            for from in self.predecessors(l, block).filter(|from| self.takes(*from, block)) {
                if found.insert(from) {
                    worklist.push(from);
                }
            }
        }
        found
    }

    /// The condition of a block without which the loop is left. `None` if its branch does not decide that.
    fn condition(
        &self,
        l: &Loop,
        number: BlockIndex,
        block: &Block,
        back: BlockIndex,
        repeating: &BTreeSet<BlockIndex>,
    ) -> Option<Condition> {
        let index = self.view.index;
        let branch = index.terminator(block);
        if branch.opcode() != op::BranchConditional {
            return None;
        }
        let goes_on = |label| {
            let to = index.block_of_label(self.view.function, label);
            match to == Some(l.header) {
                true => number == back,
                false => to.is_some_and(|to| repeating.contains(&to)),
            }
        };
        match (goes_on(branch.true_label()), goes_on(branch.false_label())) {
            (expected, other) if expected != other => Some(Condition {
                id: branch.condition(),
                expected,
            }),
            _ => None,
        }
    }

    /// The comparisons that must all have the expected result for a condition to have it, without those in `seen`. Conditions that are
    /// computed outside the loop do not change in it.
    fn comparisons(&self, l: &Loop, condition: Condition, seen: &mut HashSet<Condition>) -> Vec<Condition> {
        let (mut found, mut worklist) = (Vec::new(), vec![condition]);
        while let Some(condition) = worklist.pop() {
            let Condition { id, expected } = condition;
            let is_inside = self.view.block_of(id).is_some_and(|block| l.blocks.contains(&block));
            let Some(inst) = self.view.index.def(id).filter(|_| is_inside && seen.insert(condition)) else {
                continue;
            };
            match inst.opcode() {
                op::LogicalNot => worklist.push(Condition {
                    id: inst.first_operand(),
                    expected: !expected,
                }),
                op::LogicalAnd if expected => worklist.extend(inst.ids(3).map(|id| Condition { id, expected })),
                op::LogicalOr if !expected => worklist.extend(inst.ids(3).map(|id| Condition { id, expected })),
                _ => found.push(condition),
            }
        }
        found
    }
}

/// How often a comparison of an induction with a constant has the expected result before it has the other. `None`: not known, or for
/// ever.
fn passes(inductions: &mut Inductions<'_, '_, '_>, condition: Condition) -> Option<u64> {
    let index = inductions.view.index;
    let comparison = index.def(condition.id).filter(|inst| inst.words.len() == 5)?;
    let (left, right) = (comparison.id(3), comparison.id(4));
    let (value, bound, is_left) = match (inductions.constant(left), inductions.constant(right)) {
        (None, Some(bound)) => (left, bound, true),
        (Some(bound), None) => (right, bound, false),
        _ => return None,
    };
    let stops = |bits| {
        let holds = progression::values_where(comparison.opcode(), bound, is_left, bits)?;
        Some(if condition.expected { holds.others(bits) } else { holds })
    };
    match inductions.of(value) {
        Some(progression) => progression.first_in(stops(progression.bits)?),
        None => {
            let shifting = inductions.shifted(value)?;
            shifting.first_in(stops(shifting.bits)?)
        }
    }
}
