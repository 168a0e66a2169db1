//! The functions by which a workgroup takes and frees a block of the shadow area; see `vkabort_record::shadow_area` and `block`.

use vkabort_options::ShadowArea;
use vkabort_record::shadow_area::{BLOCKS, FIRST_BLOCK, LEFT_OFFSET, MISSED_OFFSET, NEXT_OFFSET, TRIES, block_bytes};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::memory_semantics;
use vkabort_spirv::{Id, Literal, op};

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
    let [header, body, next, end, missed, counted] = [(); 6].map(|()| out.fresh());
    let [ticket, next_ticket, left, next_left, result] = [(); 5].map(|()| out.fresh());
    let first = out.calculate(op::FunctionCall, (add, next_offset, one));
    out.branch(header);
    out.label(header);
    out.phi(uint, ticket, &[(first, entry), (next_ticket, next)]);
    out.phi(uint, left, &[(tries, entry), (next_left, next)]);
    let number = out.calculate(op::BitwiseAnd, (ticket, mask));
    let is_left = out.emit(op::INotEqual, bool, (left, zero));
    out.op(op::LoopMerge, (end, next, Literal(0)));
    out.op(op::BranchConditional, (is_left, body, end));
    out.label(body);
    let offset = write_block_offset(out, number, area);
    let was_busy = out.calculate(op::FunctionCall, (exchange, offset, one));
    let is_free = out.emit(op::IEqual, bool, (was_busy, zero));
    out.op(op::BranchConditional, (is_free, end, next));
    out.label(next);
    out.op(op::IAdd, (uint, next_ticket, ticket, one));
    out.op(op::ISub, (uint, next_left, left, one));
    out.branch(header);
    out.label(end);
    out.phi(uint, result, &[(none, header), (number, body)]);
    let is_none = out.emit(op::IEqual, bool, (result, none));
    out.branch_if(is_none, missed, counted, counted);
    out.label(missed);
    out.calculate(op::FunctionCall, (add, missed_offset, one));
    out.branch(counted);
    out.label(counted);
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
    let [count, free, counted, behind] = [(); 4].map(|()| out.fresh());
    let block = out.calculate(op::Load, variable);
    let has_block = out.emit(op::ULessThan, bool, (block, end));
    out.branch_if(has_block, count, behind, behind);
    out.label(count);
    write_fence(out, fence);
    let left = out.calculate(op::IAdd, (block, left_offset));
    let before = out.calculate(op::FunctionCall, (add, left, one));
    let now = out.calculate(op::IAdd, (before, one));
    let all = out.calculate(op::Load, size);
    let is_last = out.emit(op::IEqual, bool, (now, all));
    out.branch_if(is_last, free, counted, counted);
    out.label(free);
    out.calculate(op::FunctionCall, (exchange, left, zero));
    write_fence(out, fence);
    out.calculate(op::FunctionCall, (exchange, block, zero));
    out.branch(counted);
    out.label(counted);
    out.branch(behind);
    out.label(behind);
}
