//! Which selections of a loop decide what is done in it, and which decide whether it is left.

use crate::index::Index;
use crate::index::function::Block;
use crate::spv::{Id, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A selection: its condition, and the selection around it.
struct Construct {
    condition: Id,
    outer: Option<usize>,
}

/// The selections of a loop, as far as the order of its blocks shows them: a selection lasts from its header to its merge
/// block. A merge block out of its place makes selections larger than they are.
pub(crate) struct Constructs {
    all: Vec<Construct>,
    by_merge: HashMap<Id, usize>,
    /// By block of the loop, the innermost selection around it.
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
                found.by_merge.insert(merge.word(1), found.all.len());
                found.all.push(Construct {
                    condition: end.word(1),
                    outer: current,
                });
                current = Some(found.all.len() - 1);
            }
        }
        found
    }

    /// Adds the conditions on which it depends whether a block of the loop is executed, by its number there. Selections
    /// that were `reached` before are left out, and what is around them: all calls together cost what there is.
    pub(crate) fn around(&self, block: usize, reached: &mut HashSet<usize>, conditions: &mut Vec<Id>) {
        let mut next = self.of_block.get(block).copied().flatten();
        while let Some(construct) = next.filter(|c| reached.insert(*c)).and_then(|c| self.all.get(c)) {
            conditions.push(construct.condition);
            next = construct.outer;
        }
    }

    /// The condition of the selection that ends where a block begins: it chooses between the operands of its phis.
    pub(crate) fn before(&self, block: &Block) -> Option<Id> {
        let construct = self.all.get(*self.by_merge.get(&block.label)?)?;
        Some(construct.condition)
    }

    /// Conditions that decide whether the loop is left: those of branches out of it, those around them, and those that
    /// choose to go on with the next iteration before a branch out of it is reached. An abort is no way to end waiting.
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
                    conditions.push(end.word(1));
                }
                self.around(number, &mut reached, &mut conditions);
            }
        }
        conditions
    }
}

fn is_conditional(opcode: u16) -> bool {
    matches!(opcode, op::BranchConditional | op::Switch)
}
