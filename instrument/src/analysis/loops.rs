//! Loops: their merge blocks, continue targets and continue constructs.

use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Block, Function, Index};
use crate::spv::{Id, op};
use std::collections::BTreeSet;

/// Merge block and continue target of a loop header.
pub(crate) fn loop_merge(index: &Index<'_>, block: &Block) -> Option<(Id, Id)> {
    let merge = index.merge(block).filter(|i| i.opcode() == op::LoopMerge)?;
    Some((merge.merge_block(), merge.continue_target()))
}

/// Blocks of the continue construct of a loop, in module order: those that its continue target reaches without passing
/// the header or the merge block, by branches or as the merge block or continue target of a nested construct. In a valid
/// module these are the blocks that the continue target structurally dominates (SPIR-V specification, "Structured Control
/// Flow"). Unreachable blocks may come anywhere in the function, also before the continue target.
pub(crate) fn continue_blocks(
    index: &Index<'_>,
    function: &Function,
    header: Id,
    merge: Id,
    target: Id,
) -> BTreeSet<BlockIndex> {
    let mut found = BTreeSet::new();
    let mut worklist = vec![target];
    while let Some(label) = worklist.pop() {
        let Some(number) = index.block_of_label(function, label).filter(|b| found.insert(*b)) else {
            continue;
        };
        let Some(block) = index.blocks.get(number) else {
            continue;
        };
        let nested = index.merge(block).map_or(&[][..], |inst| match inst.opcode() {
            op::LoopMerge => inst.words.get(1..3).unwrap_or(&[]),
            _ => inst.words.get(1..2).unwrap_or(&[]),
        });
        let next = index.successors(block).into_iter().chain(nested.iter().copied());
        worklist.extend(next.filter(|label| *label != header && *label != merge));
    }
    found
}
