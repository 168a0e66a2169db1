//! The functions by which a workgroup takes and frees a block of the shadow area; see `vkabort_record::shadow_area` and `block`.

use vkabort_options::ShadowArea;
use vkabort_record::shadow_area::{BLOCKS, FIRST_BLOCK, LEFT_OFFSET, MISSED_OFFSET, NEXT_OFFSET, TRIES, block_bytes};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::memory_semantics;
use vkabort_spirv::{Id, op};

/// Writes the byte offset of the block of a number.
pub(super) fn write_block_offset(out: &mut Emitter, number: Id, area: ShadowArea) -> Id {
    let [bytes, first] = [block_bytes(area.words), FIRST_BLOCK].map(|value| out.constant(value));
    let offset = out.calculate(op::IMul, (number, bytes));
    out.calculate(op::IAdd, (offset, first))
}

/// Writes a memory barrier with a scope.
fn write_fence(out: &mut Emitter, scope: Option<u32>) {
    let Some(scope) = scope else { return };
    let semantics = memory_semantics::ACQUIRE_RELEASE | memory_semantics::UNIFORM_MEMORY;
    let [scope, semantics] = [scope, semantics].map(|value| out.constant(value));
    out.op(op::MemoryBarrier, (scope, semantics));
}

/// Writes the body of `vkabort_claim`, behind the label `entry`. Returns its result.
pub(super) fn write_claim(
    out: &mut Emitter,
    entry: Id,
    (exchange, add): (Id, Id),
    area: ShadowArea,
    fence: Option<u32>,
) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let [zero, one, mask, none, tries, next_offset, missed_offset] =
        [0, 1, BLOCKS - 1, BLOCKS, TRIES, NEXT_OFFSET, MISSED_OFFSET].map(|value| out.constant(value));
    let first = out.calculate(op::FunctionCall, (add, next_offset, one));
    let goes_on = |out: &mut Emitter, [_, left, is_busy]: [Id; 3]| {
        let is_left = out.emit(op::INotEqual, bool, (left, zero));
        let is_busy = out.emit(op::INotEqual, bool, (is_busy, zero));
        (out.emit(op::LogicalAnd, bool, (is_busy, is_left)), ())
    };
    let state = [first, tries, one].map(|value| (uint, value));
    let ([ticket, _, is_busy], _) = out.loop_(entry, state, goes_on, |out, [ticket, left, _], ()| {
        let number = out.calculate(op::BitwiseAnd, (ticket, mask));
        let offset = write_block_offset(out, number, area);
        let is_busy = out.calculate(op::FunctionCall, (exchange, offset, one));
        let next_ticket = out.calculate(op::IAdd, (ticket, is_busy));
        [next_ticket, out.calculate(op::ISub, (left, one)), is_busy]
    });
    let is_none = out.emit(op::INotEqual, bool, (is_busy, zero));
    let number = out.calculate(op::BitwiseAnd, (ticket, mask));
    let result = out.calculate(op::Select, (is_none, none, number));
    out.if_(is_none, |out| {
        out.calculate(op::FunctionCall, (add, missed_offset, one));
    });
    write_fence(out, fence);
    result
}

/// Writes the body of `vkabort_leave`.
pub(super) fn write_leave(
    out: &mut Emitter,
    (exchange, add): (Id, Id),
    [variable, size]: [Id; 2],
    end: Id,
    fence: Option<u32>,
) {
    let bool = out.bool();
    let [zero, one, left_offset] = [0, 1, LEFT_OFFSET].map(|value| out.constant(value));
    let block = out.calculate(op::Load, variable);
    let has_block = out.emit(op::ULessThan, bool, (block, end));
    out.if_(has_block, |out| {
        write_fence(out, fence);
        let left = out.calculate(op::IAdd, (block, left_offset));
        let before = out.calculate(op::FunctionCall, (add, left, one));
        let now = out.calculate(op::IAdd, (before, one));
        let all = out.calculate(op::Load, size);
        let is_last = out.emit(op::IEqual, bool, (now, all));
        out.if_(is_last, |out| {
            out.calculate(op::FunctionCall, (exchange, left, zero));
            write_fence(out, fence);
            out.calculate(op::FunctionCall, (exchange, block, zero));
        });
    });
}
