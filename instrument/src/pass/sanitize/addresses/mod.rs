//! Accesses through addresses (`PhysicalStorageBuffer`) that are outside of the buffer that the pointer belongs to, or not aligned as
//! they declare; atomics, which declare nothing, as their scalars.
//!
//! ```text
//! %p = Load %pointer ..            becomes   %p = Load %pointer ..
//! %q = AccessChain %p ..                     %base = Bitcast %uvec2 %p
//! %v = Load %float %q Aligned 16             %buffer = FunctionCall %vkabort_buffer_of %base
//!                                            %q = AccessChain %p ..
//!                                            %address = Bitcast %uvec2 %q
//!                                            %failed = INotEqual (%address.x & 15) 0
//!                                            .. an abort if %failed
//!                                            %outside = %address .. %address + 4 is not in %buffer
//!                                            .. an abort if %outside
//!                                            %v = Load %float %q Aligned 16
//! ```
//!
//! Accesses outside of buffers and misaligned ones are undefined (Vulkan specification, "Physical Storage Buffer Access"; SPIR-V
//! specification, Memory Operands, Aligned). The check is planted in front of the access, which a failing invocation does not make. The
//! layer knows the buffers and publishes a table of them (`vkabort_record::buffer_table`). It is searched once for each pointer that
//! access chains begin with; a pointer that is in no buffer, as one of an array whose first index is 1, belongs to the nearest within
//! `NEAR` bytes. Buffers that overlap count as one.
//!
//! On request. Checked are loads, stores, copies and atomics. Not checked: accesses through logical pointers, of which
//! drivers know the buffer; columns of row-major matrices, whose components are apart; cooperative matrices and copies of a computed
//! size; the shader's own constant data, and what acceleration structures or shader records are read through, since they have no
//! pointers. Where the layer emulates no aborts, nothing knows the buffers and nothing is planted.

mod base;
pub(super) mod buffer_finder;
mod extent;

use super::accesses::{Access, accesses, indices};
use super::message::Message;
use super::place::Place;
use super::planter::Planter;
use super::scalars::quote;
use super::values::ValueFacts;
use crate::analysis::effects::EffectPoint;
use crate::analysis::index::Index;
use crate::lowered::Feature;
use crate::runtime::write_is_inside;
use crate::sanitize::Check;
use crate::spv::op::{decoration, memory_operands, storage_class};
use crate::spv::{Id, Inst, op};
use base::Bases;
use buffer_finder::write_address;
use extent::extent;
use smallvec::smallvec;
use vkabort_record::buffer_table::OUTSIDE;

/// An access through an address.
struct Physical<'w> {
    access: Access<'w>,
    pointer: Id,
    bytes: u32,
    /// The alignment in bytes that it needs, a power of two.
    alignment: u32,
}

/// Plants the check into a function.
pub(super) fn plant<'w>(planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
    let options = planter.options();
    if options.sanitize.buffer_table.is_none() || !options.lowers.contains(Feature::Abort) {
        return;
    }
    let mut bases = Bases::default();
    for access in accesses(planter.index, planter.function) {
        if facts.function.graph.is_reachable(access.block)
            && let Some(physical) = physical(planter, access)
        {
            plant_tests(planter, facts, &mut bases, &physical);
        }
    }
}

fn physical<'w>(planter: &Planter<'_, '_, 'w>, access: Access<'w>) -> Option<Physical<'w>> {
    let index = planter.index;
    let pointer = access.pointer?;
    let ty = index.def(index.type_of(pointer))?;
    if ty.opcode() != op::TypePointer || ty.storage_class() != storage_class::PhysicalStorageBuffer {
        return None;
    }
    let steps = indices(index, pointer).map(|indices| indices.steps).unwrap_or_default();
    let is_column = steps
        .last()
        .is_some_and(|last| index.opcode(last.composite) == op::TypeMatrix);
    if is_column
        && index
            .decorations
            .iter()
            .any(|decoration| decoration.kind == decoration::RowMajor)
    {
        return None;
    }
    Some(Physical {
        access,
        pointer,
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

fn plant_tests<'w>(
    planter: &mut Planter<'_, '_, 'w>,
    facts: &ValueFacts<'_, '_, '_, 'w>,
    bases: &mut Bases,
    physical: &Physical<'w>,
) {
    let Physical {
        access: Access { block, inst, .. },
        pointer,
        bytes,
        alignment,
    } = *physical;
    let point = EffectPoint {
        block,
        offset: inst.offset,
        conditions: Vec::new(),
    };
    let Some(position) = planter.selected_position(block, &inst) else {
        return;
    };
    let place = Place::of_point(&point, inst, position);
    let name = planter.expressions().memory(pointer, 0);
    let suffix = match (name, position.has_line()) {
        (Some(name), _) => format!(": `{name}`"),
        (None, true) => String::new(),
        (None, false) => format!(" ({})", quote(&inst)),
    };
    let verb = verb(&inst, pointer);
    let aligned_key = (Check::Addresses as u32, smallvec![0, pointer.word(), alignment]);
    if alignment > 1 && !planter.is_tested(facts.function, &aligned_key, &point) {
        let mut text = Message::new("address 0x%08x%08x of ");
        text.push_literal(&format!("{verb} is not a multiple of {alignment}{suffix}"));
        planter.plant_with(
            Check::Addresses,
            &place,
            |out| {
                let (bool, mask, zero) = (out.bool(), out.constant(alignment - 1), out.constant(0));
                let [low, high] = write_address(out, pointer).1;
                let rest = out.calculate(op::BitwiseAnd, (low, mask));
                (out.emit(op::INotEqual, bool, (rest, zero)), [low, high])
            },
            |out, [low, high]| {
                let uint = out.uint();
                text.with(uint, high).with(uint, low)
            },
        );
        planter.add_tested(aligned_key, &point);
    }
    let key = (Check::Addresses as u32, smallvec![1, pointer.word(), bytes]);
    if planter.is_tested(facts.function, &key, &point) {
        return;
    }
    let buffer = bases.buffer_of(planter, facts, pointer, &point);
    let mut text = Message::new(verb);
    text.push_text(" of %u bytes at address 0x%08x%08x");
    text.push_literal(&format!("{OUTSIDE}{suffix}"));
    planter.plant_with(
        Check::Addresses,
        &place,
        |out| {
            let (bool, size) = (out.bool(), out.constant(bytes));
            let (address, words) = write_address(out, pointer);
            let is_inside = write_is_inside(out, buffer, address, size);
            (out.emit(op::LogicalNot, bool, is_inside), (size, words))
        },
        |out, (size, [low, high])| {
            let uint = out.uint();
            text.with_constant(uint, size).with(uint, high).with(uint, low)
        },
    );
    planter.add_tested(key, &point);
}

/// What an access does, for people.
fn verb(inst: &Inst<'_>, pointer: Id) -> &'static str {
    match inst.opcode() {
        op::Load => "a load",
        op::Store => "a store",
        op::CopyMemory if pointer == inst.id(2) => "a load",
        op::CopyMemory => "a store",
        _ => "an atomic operation",
    }
}
