//! Repeats the definitions of opaque handles in the pieces of a split block.
//!
//! ```text
//! %i = Load %image                     becomes   %i = Load %image
//! FunctionCall %f                                FunctionCall %f .. %go:
//! ImageWrite %i ..                               %j = Load %image
//!                                                ImageWrite %j ..
//! ```
//!
//! SPIR-V requires sampled images to be defined in the block that uses them (SPIR-V specification 2.16.1, Universal
//! Validation Rules), and drivers require it of other handles. When a pass splits a block, handles defined
//! before the split are defined again after it.
//!
//! Not handled: handles that a call returns. They cross the split as they are.

use crate::edit::Edits;
use crate::edit::emitter::Emitter;
use crate::edit::recompute::Recomputation;
use crate::index::{Block, Index};
use crate::{Code, Id, Inst, op, operands};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A split of a block: a new piece begins at a word offset, after `code`.
pub struct Split {
    pub offset: usize,
    pub code: Code,
}

/// Appends the definitions to the code of the splits, and rewrites the uses. O(instructions of the block), and O(handles)
/// in each piece.
pub fn rematerialize_handles(
    index: &Index<'_>,
    out: &mut Emitter,
    edits: &mut Edits,
    block: &Block,
    splits: &mut [Split],
) {
    let mut handles: HashSet<Id> = HashSet::default();
    // In the current piece, by handle: itself if it is defined there, else its copy.
    let mut available: HashMap<Id, Id> = HashMap::default();
    let mut piece = 0;
    for inst in index.insts(block.offset, block.end).skip(1) {
        while splits.get(piece).is_some_and(|split| split.offset <= inst.offset) {
            piece += 1;
            available.clear();
        }
        let mut stale = Vec::new();
        let width = index.selector_words(&inst);
        operands::visit_ids(&inst, width, |i| {
            let id = inst.id(i);
            if handles.contains(&id) && available.get(&id) != Some(&id) {
                stale.push(id);
            }
        });
        stale.sort_unstable();
        stale.dedup();
        // All handles of a block may be repeated in all of its pieces: O(words^2) ids, so stop at the limit on ids.
        if out.is_out_of_ids() {
            return;
        }
        if let Some(split) = piece.checked_sub(1).and_then(|p| splits.get_mut(p)) {
            for id in &stale {
                if available.contains_key(id) {
                    continue;
                }
                let here = |id: Id| available.get(&id).copied().or((!handles.contains(&id)).then_some(id));
                // The chain may be as long as the block.
                if let Some(computed) = Recomputation::within(usize::MAX, index, *id, here) {
                    let mut derived = Vec::new();
                    computed.write(out, &mut split.code, &mut derived);
                    for (handle, copy) in derived {
                        out.inherit_non_uniform(index, handle, &[copy]);
                        available.insert(handle, copy);
                    }
                }
            }
        }
        if !stale.is_empty() {
            edits.map_ids(&inst, width, |id| available.get(&id).copied().unwrap_or(id));
        }
        if defines_handle(index, &inst) {
            handles.insert(inst.result());
            available.insert(inst.result(), inst.result());
        }
    }
}

fn defines_handle(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    let is_repeatable = matches!(inst.opcode(), op::Load | op::SampledImage | op::Image | op::CopyObject);
    is_repeatable && index.is_opaque(inst.result_type())
}
