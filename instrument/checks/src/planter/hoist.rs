//! Instructions to duplicate when a test is hoisted.
//!
//! ```text
//! Load %p                    tested, does not wait
//! %j = IAdd %i 1
//! %e = AccessChain %array %j
//! Load %e                    tested: %copy = IAdd %i 1, %failed = UGreaterThanEqual %copy %size
//! ```

use smallvec::SmallVec;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::words::Insts;
use vkabort_spirv::{Id, Inst, op, op_sets, operands};

/// Most instructions that are repeated for a test. One that needs more keeps a branch of its own, so that no test is lost.
pub(super) const MAX_COPIES: usize = 8;

/// The word offsets of the instructions to repeat at word offset `start`, in their order, so that code for the place `end` may come
/// there. `None` if one cannot be repeated. Nothing is stored in between.
pub(super) fn instructions_to_repeat(
    index: &Index<'_>,
    code: [&[u32]; 2],
    (start, end): (usize, usize),
) -> Option<SmallVec<[usize; MAX_COPIES]>> {
    let mut worklist: SmallVec<[Id; 32]> = SmallVec::new();
    for inst in code.into_iter().flat_map(|words| Insts::new(words, 0)) {
        operands::visit_ids(&inst, 1, |at| worklist.push(inst.id(at)));
    }
    let mut offsets = SmallVec::new();
    while let Some(id) = worklist.pop() {
        let Some(inst) = index.def(id).filter(|inst| (start..end).contains(&inst.offset)) else {
            continue;
        };
        if offsets.contains(&inst.offset) {
            continue;
        }
        if offsets.len() == MAX_COPIES || !is_repeatable(index, &inst) {
            return None;
        }
        offsets.push(inst.offset);
        operands::visit_ids(&inst, 1, |at| worklist.push(inst.id(at)));
    }
    // A definition is before its uses.
    offsets.sort_unstable();
    Some(offsets)
}

/// Whether an instruction computes the same again: not with the precision that a decoration may lower, nor from what another invocation
/// may store.
fn is_repeatable(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    let is_own = |pointer| {
        let variable = index.def(pointer).filter(|inst| inst.opcode() == op::Variable);
        variable.is_some_and(|variable| matches!(variable.word(3), storage_class::Function | storage_class::Private))
    };
    let is_same = match inst.opcode() {
        op::Load => inst.words.len() == 4 && is_own(inst.pointer()) && !index.is_opaque(inst.result_type()),
        opcode => op_sets::is_total(opcode) && inst.result().is_some() && !index.is_opaque(inst.result_type()),
    };
    is_same && index.decorations_of(inst.result()).next().is_none()
}
