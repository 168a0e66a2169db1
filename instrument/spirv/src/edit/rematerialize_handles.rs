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
use crate::index::{Block, Index};
use crate::{Code, Id, Inst, op, operands};
use rustc_hash::FxHashMap as HashMap;

/// A split of a block: a new piece begins at a word offset, after `code`.
pub struct Split {
    pub offset: usize,
    pub code: Code,
}

/// Position of the definition of a handle.
#[derive(Clone, Copy)]
struct Definition {
    /// Piece of the block; 0 is the one before the first split.
    piece: usize,
    offset: usize,
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
    let mut definitions: HashMap<Id, Definition> = HashMap::default();
    // Copies in the current piece, by handle.
    let mut copies: HashMap<Id, Id> = HashMap::default();
    let mut piece = 0;
    for inst in index.insts(block.offset, block.end).skip(1) {
        while splits.get(piece).is_some_and(|split| split.offset <= inst.offset) {
            piece += 1;
            copies.clear();
        }
        let mut stale = Vec::new();
        let width = index.selector_words(&inst);
        operands::visit_ids(&inst, width, |i| {
            let id = inst.id(i);
            if definitions.get(&id).is_some_and(|definition| definition.piece < piece) {
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
                let copy = |out: &mut Emitter| copy_definition(index, out, &definitions, *id, piece, &mut copies);
                out.continue_code(&mut split.code, copy);
            }
        }
        if !stale.is_empty() {
            edits.map_ids(&inst, width, |id| copies.get(&id).copied().unwrap_or(id));
        }
        if defines_handle(index, &inst) {
            let definition = Definition {
                piece,
                offset: inst.offset,
            };
            definitions.insert(inst.result(), definition);
        }
    }
}

fn defines_handle(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    let is_repeatable = matches!(inst.opcode(), op::Load | op::SampledImage | op::Image | op::CopyObject);
    is_repeatable && index.is_opaque(inst.result_type())
}

/// Defines a handle again, after the handles that it depends on. The chain may be as long as the block, so this does not
/// recurse.
fn copy_definition(
    index: &Index<'_>,
    out: &mut Emitter,
    definitions: &HashMap<Id, Definition>,
    id: Id,
    piece: usize,
    copies: &mut HashMap<Id, Id>,
) {
    let mut offsets: Vec<usize> = Vec::new();
    let mut worklist = vec![id];
    while let Some(id) = worklist.pop() {
        let Some(definition) = definitions.get(&id).filter(|_| !copies.contains_key(&id)) else {
            continue;
        };
        copies.insert(id, id);
        offsets.push(definition.offset);
        let inst = index.inst(definition.offset);
        operands::visit_ids(&inst, 1, |i| {
            let operand = definitions.get(&inst.id(i));
            let is_stale = |operand: &&Definition| operand.piece < piece && operand.offset < definition.offset;
            worklist.extend(operand.filter(is_stale).map(|_| inst.id(i)));
        });
    }
    // In module order, every definition follows those that it depends on.
    offsets.sort_unstable();
    for inst in offsets.into_iter().map(|offset| index.inst(offset)) {
        let copy = out.fresh();
        copies.insert(inst.result(), copy);
        out.inherit_non_uniform(index, inst.result(), &[copy]);
        out.code
            .copy_mapped(&inst, 1, |id| copies.get(&id).copied().unwrap_or(id));
    }
}
