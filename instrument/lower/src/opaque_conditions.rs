//! Makes conditions of planted checks that may depend on uniform buffers opaque to the driver (`Options::opaque_conditions`).
//!
//! ```text
//! BranchConditional %failed %bad %go      becomes   %holds = FunctionCall %vkabort_holds
//!                                                   %both = LogicalAnd %holds %failed
//!                                                   BranchConditional %both %bad %go
//! bool vkabort_holds()                    a placeholder, which the pass `abort` makes load ABORTED
//!     return true
//! ```
//!
//! Mesa's lavapipe compiles a shader again for the values of the uniforms that decide a branch. To find them it walks through the condition,
//! first operands first, up to an operand that is not uniform, and keeps the uniforms that it has found. Version 22.3 writes behind an array if that is
//! in the fourth buffer or a later one, and crashes at the first draw. So the first operand is not uniform.

use rustc_hash::FxHashSet as HashSet;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::opaque_true::write_holds;
use vkabort_spirv::index::{Block, Index};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op, operands};

/// Most instructions that are looked at for a condition.
const MAX_STEPS: usize = 256;

/// Changes the conditions whose ids are not below `bound`, the application's. Returns the function, if one needs it. O(blocks), and
/// O([`MAX_STEPS`]) for each condition.
pub fn hide(index: &Index<'_>, bound: Id) -> (Edits, Option<Id>) {
    let mut edits = Edits::default();
    let mut written: Option<(Emitter, Id)> = None;
    for function in index.functions.values() {
        for block in index.blocks_of(function) {
            let end = index.terminator(block);
            let is_planted = end.opcode() == op::BranchConditional && end.condition() >= bound;
            if !is_planted || !may_read_uniforms(index, end.condition()) {
                continue;
            }
            let (out, holds) = written.get_or_insert_with(|| {
                let mut out = Emitter::new(index);
                let holds = write_holds(index, &mut out, &mut edits);
                (out, holds)
            });
            write_condition(index, out, &mut edits, *holds, (block, &end));
        }
    }
    let Some((out, holds)) = written else {
        return (edits, None);
    };
    out.finish(index, &mut edits);
    (edits, Some(holds))
}

fn write_condition(
    index: &Index<'_>,
    out: &mut Emitter,
    edits: &mut Edits,
    holds: Id,
    (block, end): (&Block, &Inst<'_>),
) {
    let bool = out.bool();
    let holds = out.emit(op::FunctionCall, bool, holds);
    let both = out.emit(op::LogicalAnd, bool, (holds, end.condition()));
    let at = block.before_end();
    out.place(|code| edits.insert(at, code));
    let condition = end.condition();
    edits.map_ids(
        end,
        index.selector_words(end),
        |id| if id == condition { both } else { id },
    );
}

/// Whether a condition may be computed from uniform buffers: it is not, if all that is known to be read is inputs and other memory.
fn may_read_uniforms(index: &Index<'_>, condition: Id) -> bool {
    let mut seen = HashSet::default();
    let mut worklist = vec![condition];
    while let Some(id) = worklist.pop() {
        if !seen.insert(id) {
            continue;
        }
        if seen.len() > MAX_STEPS {
            return true;
        }
        let Some(inst) = index.def(id) else { continue };
        match inst.opcode() {
            op::Load => match index.storage_class(index.type_of(inst.pointer())) {
                Some(
                    storage_class::Input
                    | storage_class::StorageBuffer
                    | storage_class::PhysicalStorageBuffer
                    | storage_class::PushConstant
                    | storage_class::Workgroup,
                ) => {}
                _ => return true,
            },
            op::FunctionParameter | op::FunctionCall => return true,
            _ => _ = operands::visit_ids(&inst, 1, |word| worklist.push(inst.id(word))),
        }
    }
    false
}
