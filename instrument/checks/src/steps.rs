//! Writes code once for each of the numbers of a range.

use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, op};

/// Writes a loop over the numbers from `first` on that are below `end`, `step` apart; only over `first` without a step. The code before
/// it ends in the block `before`.
pub(super) fn write_steps(
    out: &mut Emitter,
    before: Id,
    (first, end, step): (Id, Id, Option<Id>),
    body_of: impl FnOnce(&mut Emitter, Id),
) {
    let (bool, uint) = (out.bool(), out.uint());
    let is_below = |out: &mut Emitter, number: Id| out.emit(op::ULessThan, bool, (number, end));
    let Some(step) = step else {
        let is_below = is_below(out, first);
        return out.if_(is_below, |out| body_of(out, first));
    };
    out.loop_(
        before,
        [(uint, first)],
        |out, [number]| (is_below(out, number), ()),
        |out, [number], ()| {
            body_of(out, number);
            [out.calculate(op::IAdd, (number, step))]
        },
    );
}
