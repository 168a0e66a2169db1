//! Upper limits on the iterations of loops that provably end after few: of those that count from one constant to another by a constant step, and those
//! whose back edge is never taken.
//!
//! ```text
//! %i = Phi %int %zero %entry %next %continue      Store %i %zero
//! %c = SLessThan %bool %i %ten                    %v = Load %int %i, %c = SLessThan %bool %v %ten
//! %next = IAdd %int %i %one                       %v = Load %int %i, %w = IAdd %int %v %one, Store %i %w
//! ```
//!
//! Conservative: a loop that the analysis does not understand may run for ever. The count is found by counting, so that
//! overflow and every comparison are as the shader would have them.

mod induction;

use super::variable_uses::VariableUses;
use crate::analysis::dominators::Dominators;
use crate::analysis::index::constant::{binary, wrapped};
use crate::analysis::index::typed::{BlockIndex, Node};
use crate::analysis::index::{Block, Function, Index};
use crate::analysis::loop_nest::{Loop, LoopNest};
use crate::spv::{Id, op};
use std::collections::BTreeSet;

/// Limit on the iterations of a loop that are counted.
const LIMIT: u32 = 1 << 16;

/// Limit on iterations that are counted in a function.
const MAX_STEPS: u32 = 1 << 22;

/// The loops of one function.
pub(crate) struct TripCounts<'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
    nest: &'a LoopNest,
    dominators: Dominators,
    variables: VariableUses,
    /// Iterations that may still be counted.
    steps: u32,
}

/// A condition under which a loop goes on.
#[derive(Clone, Copy)]
struct Condition {
    id: Id,
    expected: bool,
}

impl<'a, 'w> TripCounts<'a, 'w> {
    pub(crate) fn new(index: &'a Index<'w>, function: &'a Function, nest: &'a LoopNest) -> Self {
        Self {
            index,
            function,
            nest,
            dominators: Dominators::new(&index.successor_nodes(function)),
            variables: VariableUses::new(index, function),
            steps: MAX_STEPS,
        }
    }

    /// The most iterations of a loop that ends after fewer than [`LIMIT`], counted by how often its body is executed. `None`: it
    /// may have more.
    pub(crate) fn most(&mut self, l: &Loop) -> Option<u32> {
        let Some((back, back_block)) = LoopNest::back_edge(self.index, l) else {
            // Without a back edge nothing is repeated; a valid loop has at most one.
            return (!self.has_back_edge(l)).then_some(1);
        };
        let repeating = self.repeating(l, back);
        if !repeating.contains(&l.header) {
            return Some(1);
        }
        let own = self.nest.innermost(l.header);
        for number in &l.blocks {
            // The test is made once in every iteration.
            if self.nest.innermost(*number) != own || !self.dominates(*number, back) {
                continue;
            }
            let Some(block) = self.index.blocks.get(*number) else {
                continue;
            };
            let Some(condition) = self.condition(l, block, back_block, &repeating) else {
                continue;
            };
            let mut comparisons = self.comparisons(condition).into_iter();
            let most = comparisons.find_map(|c| self.passes(l, back, c));
            if most.is_some() {
                return most;
            }
        }
        None
    }

    fn has_back_edge(&self, l: &Loop) -> bool {
        let header = self.index.blocks.get(l.header).map(|block| block.label);
        let mut blocks = l.blocks.iter().filter_map(|b| self.index.blocks.get(*b));
        blocks.any(|block| self.index.successors(block).into_iter().any(|to| Some(to) == header))
    }

    fn node(&self, block: BlockIndex) -> Option<Node> {
        self.function.blocks.offset_of(block).map(Node::from_usize)
    }

    fn dominates(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let nodes = self.node(from).zip(self.node(to));
        nodes.is_some_and(|(from, to)| self.dominators.dominates(from, to))
    }

    /// Successors of a block, without those that a constant condition excludes.
    fn taken(&self, block: &Block) -> Vec<Id> {
        let branch = self.index.terminator(block);
        match (branch.opcode(), self.index.opcode(branch.condition())) {
            (op::BranchConditional, op::ConstantTrue) => vec![branch.true_label()],
            (op::BranchConditional, op::ConstantFalse) => vec![branch.false_label()],
            _ => self.index.successors(block),
        }
    }

    /// Blocks of a loop from which the back edge can be taken in the same iteration.
    fn repeating(&self, l: &Loop, back: BlockIndex) -> BTreeSet<BlockIndex> {
        let header = self.index.blocks.get(l.header).map(|block| block.label);
        let mut edges: Vec<(BlockIndex, BlockIndex)> = Vec::new();
        let mut found = BTreeSet::new();
        for number in &l.blocks {
            let Some(block) = self.index.blocks.get(*number) else {
                continue;
            };
            for to in self.taken(block) {
                if Some(to) == header {
                    if *number == back {
                        found.insert(back);
                    }
                } else if let Some(to) = self.index.block_of_label(self.function, to) {
                    edges.push((to, *number));
                }
            }
        }
        edges.sort_unstable();
        let mut worklist: Vec<BlockIndex> = found.iter().copied().collect();
        while let Some(block) = worklist.pop() {
            let first = edges.partition_point(|(to, _)| *to < block);
            let into = edges.get(first..).unwrap_or_default().iter();
            worklist.extend(
                into.take_while(|(to, _)| *to == block)
                    .map(|(_, from)| *from)
                    .filter(|from| found.insert(*from)),
            );
        }
        found
    }

    /// The condition of a block without which the loop is left. `None` if its branch does not decide that.
    fn condition(&self, l: &Loop, block: &Block, back: &Block, repeating: &BTreeSet<BlockIndex>) -> Option<Condition> {
        let header = self.index.blocks.get(l.header)?.label;
        let branch = self.index.terminator(block);
        if branch.opcode() != op::BranchConditional {
            return None;
        }
        let goes_on = |label| {
            if label == header {
                return block.label == back.label;
            }
            let to = self.index.block_of_label(self.function, label);
            to.is_some_and(|to| repeating.contains(&to))
        };
        match (goes_on(branch.true_label()), goes_on(branch.false_label())) {
            (expected, other) if expected != other => Some(Condition {
                id: branch.condition(),
                expected,
            }),
            _ => None,
        }
    }

    /// The comparisons that must all have the expected result for a condition to have it.
    fn comparisons(&self, condition: Condition) -> Vec<Condition> {
        const MAX: usize = 16;
        let (mut found, mut worklist) = (Vec::new(), vec![condition]);
        while let Some(Condition { id, expected }) = worklist.pop() {
            let Some(inst) = self.index.def(id).filter(|_| found.len() + worklist.len() < MAX) else {
                continue;
            };
            match inst.opcode() {
                op::LogicalNot => worklist.push(Condition {
                    id: inst.first_operand(),
                    expected: !expected,
                }),
                op::LogicalAnd if expected => worklist.extend(inst.ids(3).map(|id| Condition { id, expected })),
                op::LogicalOr if !expected => worklist.extend(inst.ids(3).map(|id| Condition { id, expected })),
                _ => found.push(Condition { id, expected }),
            }
        }
        found
    }

    /// How often a comparison of an induction with a constant holds before it fails, if that is before [`LIMIT`] iterations.
    fn passes(&mut self, l: &Loop, back: BlockIndex, condition: Condition) -> Option<u32> {
        let comparison = self
            .index
            .def(condition.id)
            .filter(|i| i.words.len() == 5 && is_comparison(i.opcode()))?;
        let (left, right) = (comparison.id(3), comparison.id(4));
        let (induction, bound, is_left) = match (self.constant(left), self.constant(right)) {
            (None, Some(bound)) => (self.induction(l, back, left), bound, true),
            (Some(bound), None) => (self.induction(l, back, right), bound, false),
            _ => return None,
        };
        let induction = induction?;
        let mut value = induction.first;
        for passed in 0..LIMIT.min(self.steps) {
            self.steps -= 1;
            let (a, b) = if is_left { (value, bound) } else { (bound, value) };
            match binary(comparison.opcode(), a, b, induction.bits) {
                Some(result) if (result != 0) != condition.expected => return Some(passed),
                Some(_) => value = wrapped(value.wrapping_add(induction.step), induction.bits),
                None => return None,
            }
        }
        None
    }
}

fn is_comparison(opcode: u16) -> bool {
    matches!(opcode, op::IEqual..=op::SLessThanEqual)
}
