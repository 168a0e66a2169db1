//! Selection constructs of a loop or a function: the conditions that guard a block, select a phi's operand or leave a loop.

use crate::analysis::index::{Block, Index};
use crate::spv::{Id, Inst, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A selection construct: its condition, and the selection that encloses it.
struct Construct {
    condition: Id,
    outer: Option<usize>,
}

/// The selections of a loop or a function, approximated by block order: a selection lasts from its header to its merge
/// block. A merge block out of order makes selections larger than they are, never smaller.
pub(crate) struct Constructs {
    all: Vec<Construct>,
    by_merge: HashMap<Id, usize>,
    /// The innermost selection around each block.
    of_block: Vec<Option<usize>>,
}

impl Constructs {
    pub(crate) fn new(index: &Index<'_>, blocks: &[&Block]) -> Self {
        let mut found = Self {
            all: Vec::new(),
            by_merge: HashMap::default(),
            of_block: Vec::with_capacity(blocks.len()),
        };
        let mut current = None;
        for block in blocks {
            if let Some(ended) = found.by_merge.get(&block.label).and_then(|c| found.all.get(*c)) {
                current = ended.outer;
            }
            found.of_block.push(current);
            let end = index.terminator(block);
            let merge = index.merge(block).filter(|i| i.opcode() == op::SelectionMerge);
            if let Some(merge) = merge
                && is_conditional(end.opcode())
            {
                found.by_merge.insert(merge.merge_block(), found.all.len());
                found.all.push(Construct {
                    condition: end.condition(),
                    outer: current,
                });
                current = Some(found.all.len() - 1);
            }
        }
        found
    }

    /// Adds the conditions that guard the block at a position. Skips selections in `reached` and those that enclose them:
    /// all calls together are O(selections).
    pub(crate) fn around(&self, block: usize, reached: &mut HashSet<usize>, conditions: &mut Vec<Id>) {
        let mut next = self.of_block.get(block).copied().flatten();
        while let Some(construct) = next.filter(|c| reached.insert(*c)).and_then(|c| self.all.get(c)) {
            conditions.push(construct.condition);
            next = construct.outer;
        }
    }

    /// Adds the conditions that select the operand of a phi in the block at position `number`: those that guard its
    /// predecessors and those of the predecessors' branches. None if all operands are equal. Skips predecessors outside
    /// `blocks` and back edges.
    pub(crate) fn selecting(
        &self,
        index: &Index<'_>,
        blocks: &[&Block],
        (phi, number): (&Inst<'_>, usize),
        reached: &mut HashSet<usize>,
        conditions: &mut Vec<Id>,
    ) {
        let is_header = blocks
            .get(number)
            .and_then(|b| index.merge(b))
            .is_some_and(|i| i.opcode() == op::LoopMerge);
        let before = |(_, label): (Id, Id)| {
            let label = index.def(label)?;
            let before = number_at(blocks, label.offset)?;
            (!is_header || before < number).then_some(before)
        };
        let mut values = phi
            .phi_pairs()
            .filter(|pair| before(*pair).is_some())
            .map(|(value, _)| value);
        let first = values.next();
        if values.all(|value| Some(value) == first) {
            return;
        }
        for before in phi.phi_pairs().filter_map(before) {
            self.around(before, reached, conditions);
            let end = blocks.get(before).map(|b| index.terminator(b));
            conditions.extend(end.filter(|i| is_conditional(i.opcode())).map(|i| i.condition()));
        }
    }

    /// Conditions that decide whether the loop is left: those of branches out of it, those that guard them, and those that
    /// continue with the next iteration ahead of a branch out of it. An abort does not end waiting.
    pub(crate) fn deciding(&self, index: &Index<'_>, blocks: &[&Block], merge: Id, target: Id) -> Vec<Id> {
        let goes_to = |block: &Block, label| index.successors(block).contains(&label);
        let leaves = |block: &Block| {
            let ends = [op::Return, op::ReturnValue, op::Kill, op::TerminateInvocation];
            goes_to(block, merge) || ends.contains(&index.terminator(block).opcode())
        };
        let before_continue = blocks.iter().position(|b| b.label == target).unwrap_or(blocks.len());
        let last_exit = blocks.iter().take(before_continue).rposition(|b| leaves(b));
        let mut reached = HashSet::default();
        let mut conditions = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let goes_on = last_exit.is_some_and(|last| number < last) && goes_to(block, target);
            if goes_on || leaves(block) {
                let end = index.terminator(block);
                if is_conditional(end.opcode()) {
                    conditions.push(end.condition());
                }
                self.around(number, &mut reached, &mut conditions);
            }
        }
        conditions
    }
}

/// The position of the block that holds an instruction, in a list of blocks in module order.
pub(crate) fn number_at(blocks: &[&Block], offset: usize) -> Option<usize> {
    let number = blocks.partition_point(|b| b.offset <= offset).checked_sub(1)?;
    (offset < blocks.get(number)?.end).then_some(number)
}

fn is_conditional(opcode: u16) -> bool {
    matches!(opcode, op::BranchConditional | op::Switch)
}
