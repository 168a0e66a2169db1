//! Accesses through addresses: how many bytes they touch, where, and how these must be aligned.

use super::super::accesses::{Access, chains};
use super::super::planter::Planter;
use super::extent::extent;
use super::offset::{Offset, offset};
use crate::analysis::index::Index;
use crate::spv::op::{memory_operands, storage_class};
use crate::spv::{Id, Inst, op};

/// An access through an address.
pub(super) struct Physical<'w> {
    pub(super) access: Access<'w>,
    pub(super) pointer: Id,
    /// The pointer that its access chains begin with, and what they add.
    pub(super) base: Id,
    pub(super) offset: Offset,
    pub(super) bytes: u32,
    /// The alignment in bytes that it needs, a power of two.
    pub(super) alignment: u32,
}

/// What of an access no earlier test has shown.
#[derive(Clone, Copy)]
pub(super) struct Tested {
    pub(super) alignment: bool,
    pub(super) bounds: bool,
}

/// What an access needs of memory that has addresses. `None`: it is none of such memory, or not tested.
pub(super) fn physical<'w>(planter: &Planter<'_, '_, 'w>, access: Access<'w>) -> Option<Physical<'w>> {
    let index = planter.index;
    let pointer = access.pointer?;
    let ty = index.def(index.type_of(pointer))?;
    if ty.opcode() != op::TypePointer || ty.storage_class() != storage_class::PhysicalStorageBuffer {
        return None;
    }
    let is_chain = |opcode| {
        matches!(
            opcode,
            op::AccessChain | op::InBoundsAccessChain | op::PtrAccessChain | op::CopyObject
        )
    };
    let (chains, base) = chains(index, pointer, is_chain);
    let offset = offset(index, &chains);
    (offset != Offset::Apart).then_some(())?;
    Some(Physical {
        access,
        pointer,
        base,
        offset,
        bytes: u32::try_from(extent(index, planter.options(), ty.pointee())?).ok()?,
        alignment: match is_atomic(&access.inst) {
            true => scalar_bytes(index, ty.pointee())?,
            false => declared_alignment(&access.inst, pointer).unwrap_or(1),
        },
    })
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
