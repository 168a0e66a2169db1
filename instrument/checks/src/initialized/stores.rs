//! Finds the bits that an instruction sets because it stores, or may store.

use super::super::accesses::indices;
use super::layout::{BitPlace, Layout};
use vkabort_analysis::view::{Access, AccessKind, ModuleView};
use vkabort_spirv::op_sets::is_atomic_read;
use vkabort_spirv::{Id, Inst, op};

/// Bits that a store sets; all bits if its place is unknown.
pub(super) fn stored_place(
    view: &ModuleView<'_, '_>,
    layout: &Layout,
    access: &Access,
    inst: &Inst<'_>,
) -> Option<BitPlace> {
    may_store(view, access, inst).then(|| {
        let found = stored_pointer(access, inst).and_then(|pointer| indices(view.index, pointer));
        let place = found.and_then(|found| layout.place(view.index, &found.steps));
        place.unwrap_or_else(|| layout.whole())
    })
}

fn may_store(view: &ModuleView<'_, '_>, access: &Access, inst: &Inst<'_>) -> bool {
    match access.kind {
        AccessKind::Load(_) | AccessKind::CopyFrom => false,
        AccessKind::Store(_) | AccessKind::CopyTo | AccessKind::Write | AccessKind::Other => true,
        AccessKind::Argument(position) => {
            let callee = view.summary_of(inst.callee());
            callee.is_none_or(|callee| callee.is_unknown || callee.writes_parameters.contains(&position))
        }
    }
}

/// The pointer that an access stores through, if it is known.
fn stored_pointer(access: &Access, inst: &Inst<'_>) -> Option<Id> {
    match (inst.opcode(), access.kind) {
        (op::Store | op::CopyMemory | op::AtomicStore, _) => Some(inst.id(1)),
        (opcode, _) if is_atomic_read(opcode) => Some(inst.pointer()),
        (op::FunctionCall, AccessKind::Argument(position)) => inst.ids(4).nth(position),
        (op::ExtInst, AccessKind::Write) => Some(inst.id(6)),
        _ => None,
    }
}
