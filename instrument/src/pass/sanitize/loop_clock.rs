//! The time that the loops of an invocation have run, in ticks of the host (TICKS, `vkabort_record::layout`).
//!
//! ```text
//! uint vkabort_ticks()                        a placeholder, which the pass `abort` makes load TICKS
//!     return 0
//! bool vkabort_is_over(uint left)             left: what the invocation has left of its budget
//!     if (left % INTERVAL != 0) return false
//!     now = vkabort_ticks()
//!     ticks_left -= now != tick ? 1 : 0, tick = now
//!     return ticks_left == 0
//! ```
//!
//! The invocation counts the changes that it sees, at most one at each look, and not the difference: so the time in which it does
//! not run does not count, whether its thread waits for a processor, a debugger stops the process, or the host's thread sleeps. The
//! first look sees a change without having waited for one.

use crate::edit::emitter::Emitter;
use crate::sanitize::LoopTimeout;
use crate::spv::{Code, Id, Literal, op};
use vkabort_record::layout::TIMEOUT_TICKS;

/// What the functions are called with, and what they use.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopClock {
    /// The function `vkabort_is_over`.
    pub(super) is_over: Id,
    /// The function `vkabort_ticks`.
    pub(super) ticks: Id,
    /// The private variables.
    pub(super) variables: [Id; 2],
}

impl LoopClock {
    /// Writes the functions into `functions`.
    pub(super) fn new(out: &mut Emitter, timeout: LoopTimeout, functions: &mut Code) -> Self {
        let (uint, bool) = (out.uint(), out.bool());
        let [zero, one, mask] = [0, 1, timeout.interval.wrapping_sub(1)].map(|value| out.constant(value));
        let all = out.constant(TIMEOUT_TICKS + 1);
        let tick = out.private(uint, zero);
        let ticks_left = out.private(uint, all);
        out.name(tick, "vkabort_tick");
        out.name(ticks_left, "vkabort_ticks_left");
        let no = out.value(op::ConstantFalse, bool, ());
        let reader_type = out.function_type(uint, &[]);
        let test_type = out.function_type(bool, &[uint]);
        let [ticks, is_over] = [(); 2].map(|()| out.fresh());
        out.name(ticks, "vkabort_ticks");
        out.name(is_over, "vkabort_is_over");
        out.continue_code(functions, |out| {
            out.op(op::Function, (uint, ticks, Literal(0), reader_type));
            let entry = out.fresh();
            out.label(entry);
            out.op(op::ReturnValue, zero);
            out.op(op::FunctionEnd, ());

            out.op(op::Function, (bool, is_over, Literal(0), test_type));
            let left = out.emit(op::FunctionParameter, uint, ());
            let [entry, look, end, result] = [(); 4].map(|()| out.fresh());
            out.label(entry);
            let rest = out.calculate(op::BitwiseAnd, (left, mask));
            let is_due = out.emit(op::IEqual, bool, (rest, zero));
            out.branch_if(is_due, look, end, end);
            out.label(look);
            let now = out.calculate(op::FunctionCall, ticks);
            let last = out.calculate(op::Load, tick);
            let is_new = out.emit(op::INotEqual, bool, (now, last));
            out.op(op::Store, (tick, now));
            let seen = out.calculate(op::Select, (is_new, one, zero));
            let before = out.calculate(op::Load, ticks_left);
            let after = out.calculate(op::ISub, (before, seen));
            out.op(op::Store, (ticks_left, after));
            let is_over = out.emit(op::IEqual, bool, (after, zero));
            out.branch(end);
            out.label(end);
            out.phi(bool, result, &[(no, entry), (is_over, look)]);
            out.op(op::ReturnValue, result);
            out.op(op::FunctionEnd, ());
        });
        Self {
            is_over,
            ticks,
            variables: [tick, ticks_left],
        }
    }
}
