//! The epochs that an invocation counts: one more behind each barrier.

use super::word::{FIRST_EPOCH, NEVER};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, op};

/// Sets both variables to the first epoch or the next one, or ends the recording.
pub(super) fn set_epoch(out: &mut Emitter, [epoch, observed]: [Id; 2], is_over: Id, next: Id) {
    let (zero, never) = (out.constant(0), out.constant(NEVER));
    let recorded = out.calculate(op::Select, (is_over, zero, next));
    let seen = out.calculate(op::Select, (is_over, never, next));
    out.op(op::Store, (epoch, recorded));
    out.op(op::Store, (observed, seen));
}

/// Writes the function `vkabort_next_epoch`.
pub(super) fn write_next_epoch(out: &mut Emitter, functions: &mut Code, variables: [Id; 2]) -> Id {
    let (bool, uint, void) = (out.bool(), out.uint(), out.void());
    let [epoch, _] = variables;
    out.function(functions, "vkabort_next_epoch", (void, &[]), |out, _, _| {
        let epoch = out.emit(op::Load, uint, epoch);
        // Of 0, this is the greatest.
        let [one, most] = [FIRST_EPOCH, NEVER - 2 * FIRST_EPOCH].map(|value| out.constant(value));
        let before = out.calculate(op::ISub, (epoch, one));
        let is_over = out.emit(op::UGreaterThanEqual, bool, (before, most));
        let next = out.calculate(op::IAdd, (epoch, one));
        set_epoch(out, variables, is_over, next);
        None
    })
}
