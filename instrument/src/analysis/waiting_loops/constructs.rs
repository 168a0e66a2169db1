//! Which selections of a loop or a function decide what is done in it, and which decide whether a loop is left.

use crate::analysis::index::Index;
use crate::analysis::index::function::Block;
use crate::spv::{Id, Inst, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A selection: its condition, and the selection around it.
struct Construct {
    condition: Id,
    outer: Option<usize>,
}

/// The selections of a loop or a function, as far as the order of its blocks shows them: a selection lasts from its header
/// to its merge block. A merge block out of its place makes selections larger than they are.
pub(crate) struct Constructs {
    all: Vec<Construct>,
    by_merge: HashMap<Id, usize>,
    /// By block, the innermost selection around it.
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

    /// Adds the conditions on which it depends whether a block is executed, by its number. Selections that were `reached`
    /// before are left out, and what is around them: all calls together cost what there is.
    pub(crate) fn around(&self, block: usize, reached: &mut HashSet<usize>, conditions: &mut Vec<Id>) {
        let mut next = self.of_block.get(block).copied().flatten();
        while let Some(construct) = next.filter(|c| reached.insert(*c)).and_then(|c| self.all.get(c)) {
            conditions.push(construct.condition);
            next = construct.outer;
        }
    }

    /// Adds the conditions that choose between the operands of a phi, which stands in the block with this number: those
    /// on which its predecessors are executed, and those of the predecessors' branches. None choose where all operands are
    /// the same. Predecessors that are not among `blocks` and those that go back to a loop header are left out.
    pub(crate) fn choosing(
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
        let before = |pair: &&[Id]| {
            let label = index.def(*pair.last()?)?;
            let before = number_at(blocks, label.offset)?;
            (!is_header || before < number).then_some(before)
        };
        let mut pairs = phi.from(3).chunks_exact(2).filter(|pair| before(pair).is_some());
        let first = pairs.next().and_then(|pair| pair.first());
        if pairs.all(|pair| pair.first() == first) {
            return;
        }
        for before in phi.from(3).chunks_exact(2).filter_map(|pair| before(&pair)) {
            self.around(before, reached, conditions);
            let end = blocks.get(before).map(|b| index.terminator(b));
            conditions.extend(end.filter(|i| is_conditional(i.opcode())).map(|i| i.word(1)));
        }
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

/// The number of the block in which an instruction stands, among blocks in module order.
pub(crate) fn number_at(blocks: &[&Block], offset: usize) -> Option<usize> {
    let number = blocks.partition_point(|b| b.offset <= offset).checked_sub(1)?;
    (offset < blocks.get(number)?.end).then_some(number)
}

fn is_conditional(opcode: u16) -> bool {
    matches!(opcode, op::BranchConditional | op::Switch)
}
