//! The time that the loops of an invocation have run, in ticks of the host (TICKS, `vkabort_record::layout`).
//!
//! ```text
//! uint vkabort_ticks()                        a placeholder, which the pass `abort` makes load TICKS
//!     return 0
//! bool vkabort_is_over()                      a look
//!     now = vkabort_ticks()
//!     ticks_left -= now != tick ? 1 : 0, tick = now
//!     return ticks_left == 0
//! bool vkabort_look_if(bool is_due)           for code without branches
//!     return is_due ? vkabort_is_over() : false
//! ```
//!
//! The invocation counts the changes that it sees, at most one at each look, and not the difference: so the time in which it does
//! not run does not count, whether its thread waits for a processor, a debugger stops the process, or the host's thread sleeps. The
//! first look sees a change without having waited for one.

use vkabort_record::layout::TIMEOUT_TICKS;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, op};

/// Variables and functions that the limits of all loops share.
#[derive(Debug, Default)]
pub(super) struct LoopState {
    /// The private variable that counts iterations.
    pub(super) counter: Option<Id>,
    /// Measures the time that loops run.
    pub(super) clock: Option<LoopClock>,
    /// Reads it in code without branches.
    pub(super) look_if: Option<Id>,
}

/// Planted functions and variables of the clock.
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
    pub(super) fn new(out: &mut Emitter, functions: &mut Code) -> Self {
        let (uint, bool) = (out.uint(), out.bool());
        let [zero, one] = [0, 1].map(|value| out.constant(value));
        let all = out.constant(TIMEOUT_TICKS + 1);
        let tick = out.private(uint, zero);
        let ticks_left = out.private(uint, all);
        out.name(tick, "vkabort_tick");
        out.name(ticks_left, "vkabort_ticks_left");
        let ticks = out.function(functions, "vkabort_ticks", (uint, &[]), |_, _, _| Some(zero));
        let is_over = out.function(functions, "vkabort_is_over", (bool, &[]), |out, _, _| {
            let now = out.calculate(op::FunctionCall, ticks);
            let last = out.calculate(op::Load, tick);
            let is_new = out.emit(op::INotEqual, bool, (now, last));
            out.op(op::Store, (tick, now));
            let seen = out.calculate(op::Select, (is_new, one, zero));
            let before = out.calculate(op::Load, ticks_left);
            let after = out.calculate(op::ISub, (before, seen));
            out.op(op::Store, (ticks_left, after));
            Some(out.emit(op::IEqual, bool, (after, zero)))
        });
        Self {
            is_over,
            ticks,
            variables: [tick, ticks_left],
        }
    }

    /// Writes the function `vkabort_look_if` into `functions`.
    pub(super) fn write_look_if(&self, out: &mut Emitter, functions: &mut Code) -> Id {
        let bool = out.bool();
        let no = out.value(op::ConstantFalse, bool, ());
        let types: (Id, &[Id]) = (bool, &[bool]);
        out.function(functions, "vkabort_look_if", types, |out, entry, parameters| {
            let [is_due] = *parameters else { return None };
            let [look, end, result] = [(); 3].map(|()| out.fresh());
            out.branch_if(is_due, look, end, end);
            out.label(look);
            let is_over = out.emit(op::FunctionCall, bool, self.is_over);
            out.branch(end);
            out.label(end);
            out.phi(bool, result, &[(no, entry), (is_over, look)]);
            Some(result)
        })
    }
}
