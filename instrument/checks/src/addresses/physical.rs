//! Size, address and required alignment of accesses through physical pointers.

use super::super::accesses::{Access, chains};
use super::super::planter::Planter;
use super::extent::extent;
use super::offset::{Offset, offset};
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{memory_operands, storage_class};
use vkabort_spirv::op_sets::{base_pointer, is_untyped_chain};
use vkabort_spirv::{Id, Inst, op};

/// An access through an address.
pub(super) struct Physical<'w> {
    pub(super) access: Access<'w>,
    pub(super) pointer: Id,
    /// The pointer that its access chains begin with, and the offset that they add.
    pub(super) base: Id,
    pub(super) offset: Offset,
    pub(super) bytes: u32,
    /// The alignment in bytes that it needs, a power of two.
    pub(super) alignment: u32,
}

/// Properties of an access that no earlier test has established.
#[derive(Clone, Copy)]
pub(super) struct RequiredTests {
    pub(super) alignment: bool,
    pub(super) bounds: bool,
}

/// Base, size and alignment of a physical access; `None` if it is not physical or not tested.
pub(super) fn physical<'w>(planter: &Planter<'_, '_, 'w>, access: Access<'w>) -> Option<Physical<'w>> {
    let index = planter.index;
    let pointer = access.pointer?;
    if index.storage_class(index.type_of(pointer)) != Some(storage_class::PhysicalStorageBuffer) {
        return None;
    }
    let (base, offset) = base_and_offset(index, pointer);
    (offset != Offset::Apart).then_some(())?;
    let ty = accessed_type(index, &access.inst, pointer)?;
    Some(Physical {
        access,
        pointer,
        base,
        offset,
        bytes: u32::try_from(extent(index, planter.options(), ty)?).ok()?,
        alignment: match is_atomic(&access.inst) {
            true => scalar_bytes(index, ty)?,
            false => declared_alignment(&access.inst, pointer).unwrap_or(1),
        },
    })
}

/// The first pointer of the access chains that form a pointer, and the offset that they add.
fn base_and_offset(index: &Index<'_>, pointer: Id) -> (Id, Offset) {
    let is_untyped = |id: Id| {
        let inst = index.def(id).filter(|inst| is_untyped_chain(inst.opcode()))?;
        let base = base_pointer(&inst)?;
        // In an invalid module a chain may begin with itself.
        (index.def(base)?.offset < inst.offset).then_some(base)
    };
    if let Some(base) = is_untyped(pointer) {
        let base = std::iter::successors(Some(base), |id| is_untyped(*id)).last();
        return (base.unwrap_or(pointer), Offset::Computed);
    }
    let is_chain = |opcode| {
        matches!(
            opcode,
            op::AccessChain | op::InBoundsAccessChain | op::PtrAccessChain | op::CopyObject
        )
    };
    let (chains, base) = chains(index, pointer, is_chain);
    (base, offset(index, &chains))
}

/// The type of the value that an access reads or writes through a pointer. An untyped pointer has no pointee, so the instruction has it.
fn accessed_type(index: &Index<'_>, inst: &Inst<'_>, pointer: Id) -> Option<Id> {
    let ty = index.def(index.type_of(pointer))?;
    if ty.opcode() == op::TypePointer {
        return Some(ty.pointee());
    }
    let ty = match inst.opcode() {
        op::Store => index.type_of(inst.stored_value()),
        op::AtomicStore => index.type_of(inst.id(4)),
        // One of the pointers has a type.
        op::CopyMemory => {
            let others = [inst.id(1), inst.id(2)].map(|id| index.def(index.type_of(id)));
            let typed = others.into_iter().flatten().find(|ty| ty.opcode() == op::TypePointer)?;
            typed.pointee()
        }
        _ => inst.result_type(),
    };
    ty.is_some().then_some(ty)
}

/// Whether an access is an atomic operation.
fn is_atomic(inst: &Inst<'_>) -> bool {
    !matches!(inst.opcode(), op::Load | op::Store | op::CopyMemory)
}

/// Bytes of the scalars of a type, which atomics are aligned to (VUID-RuntimeSpirv-PhysicalStorageBuffer64-06314).
fn scalar_bytes(index: &Index<'_>, ty: Id) -> Option<u32> {
    let ty = index.def(ty)?;
    match ty.opcode() {
        op::TypeInt | op::TypeFloat => Some(ty.width() / 8),
        op::TypeVector => Some(index.def(ty.element_type())?.width() / 8),
        _ => None,
    }
}

/// The alignment that the memory operands of an access through `pointer` declare, if it is a power of two.
fn declared_alignment(inst: &Inst<'_>, pointer: Id) -> Option<u32> {
    let first = match inst.opcode() {
        op::Load => 4,
        op::Store | op::CopyMemory => 3,
        _ => return None,
    };
    let operands = inst.words.get(first..)?;
    let read = |operands: &[u32]| {
        let (mask, rest) = operands.split_first()?;
        let alignment = *rest.first()?;
        (mask & memory_operands::ALIGNED != 0 && alignment.is_power_of_two()).then_some(alignment)
    };
    // The second operands of a copy, if there are any, are those of the source.
    let is_source = inst.opcode() == op::CopyMemory && pointer == inst.id(2) && pointer != inst.id(1);
    let second = is_source
        .then(|| operands.get(memory_operands::words(*operands.first()?)..))
        .flatten();
    second.and_then(read).or_else(|| read(operands))
}
