//! Loops: their merge and continue targets, and the blocks of their continue constructs.

use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::Index;
use crate::analysis::index::function::{Block, Function};
use crate::spv::{Id, op};
use std::collections::BTreeSet;

/// Merge block and continue target of a loop header.
pub(crate) fn loop_merge(index: &Index<'_>, block: &Block) -> Option<(Id, Id)> {
    let merge = index.merge(block).filter(|i| i.opcode() == op::LoopMerge)?;
    Some((merge.word(1), merge.word(2)))
}

/// Blocks of the continue construct of a loop, in module order: those that its continue target reaches without passing
/// the header or the merge block, by branches or as the merge block or continue target of a construct inside. In valid
/// modules these are the blocks that the continue target structurally dominates. Those that no branch reaches may stand
/// anywhere in the function, also before the continue target.
pub(crate) fn continue_blocks(
    index: &Index<'_>,
    function: &Function,
    header: Id,
    merge: Id,
    target: Id,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![target];
    while let Some(label) = open.pop() {
        let Some(number) = index.block_of_label(function, label) else {
            continue;
        };
        if !found.insert(number) {
            continue;
        }
        let Some(block) = index.blocks.get(number) else {
            continue;
        };
        let named = index.merge(block).map_or(&[][..], |inst| match inst.opcode() {
            op::LoopMerge => inst.words.get(1..3).unwrap_or(&[]),
            _ => inst.words.get(1..2).unwrap_or(&[]),
        });
        let next = index.successors(block).into_iter().chain(named.iter().copied());
        open.extend(next.filter(|label| *label != header && *label != merge));
    }
    found
}

/// Whether an invocation may have to leave in the middle of a block: on an abort, after a call, in a loop that polls.
pub(crate) fn may_abort(index: &Index<'_>, plan: &ExitPlan, function: usize, block: usize) -> bool {
    plan.polled(block)
        || index
            .blocks
            .get(block)
            .is_some_and(|b| index.terminator(b).opcode() == op::AbortKHR)
        || !plan.checked_calls(index, function, block).is_empty()
}
