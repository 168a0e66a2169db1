//! The transitions of a loss: drain, seal, report, lose.

use super::drain::DrainStatus;
use super::drain_budget::DrainBudget;
use super::suspect_queues::WaitMark;
use crate::arena::readback::RecordRange;
use crate::device::state::{Phase, Queue};
use crate::device::{AbortState, Device};
use crate::locks::{lock, lock_until};
use crate::report::{self, Cause};
use crate::settings::OnAbort;
use crate::sync::{Arc, Instant, Ordering};
use std::cell::Cell;
use vkabort_instrument::Trap;

impl Device {
    /// Continues the handling of an abort. Returns whether the device is lost.
    pub fn advance(&self, state: &AbortState, budget: DrainBudget) -> bool {
        let loss = &state.loss;
        if loss.is_lost() {
            return true;
        }
        if self.is_inherited() {
            return false;
        }
        let limit = budget.deadline();
        let Some(mut deadline) = lock_until(&loss.drain_deadline, limit) else {
            return false;
        };
        if loss.is_lost() {
            return true;
        }
        if !state.aborted() {
            return false;
        }
        match self.instance.settings.on_abort {
            OnAbort::Lose => self.lose(state, &mut deadline, limit),
            OnAbort::Continue | OnAbort::ContinueChecks => self.report_and_continue(state, &mut deadline, limit),
        }
    }

    /// Drains the queues and loses the device. Returns false if `limit` came first.
    fn lose(&self, state: &AbortState, deadline: &mut Option<Instant>, limit: Option<Instant>) -> bool {
        let loss = &state.loss;
        let settings = &self.instance.settings;
        loss.enter(Phase::Quiescing);
        let timeout = match state.options.trap {
            Trap::Return => settings.drain_timeout,
            // The driver is expected to lose the device first.
            Trap::Fault | Trap::Hang => settings.trap_timeout,
        };
        let deadline = *deadline.get_or_insert_with(|| Instant::now() + timeout);
        let driver_lost = Cell::new(false);
        let when_idle = |_: &[Arc<Queue>]| {
            driver_lost.set(state.options.trap != Trap::Return && self.driver_has_lost());
            loss.enter(Phase::Sealed);
        };
        let mut status = self.drain(state, deadline, limit, || {}, when_idle);
        if matches!(status, DrainStatus::TimedOut) && state.options.trap == Trap::Hang {
            // The driver has no watchdog, or a slow one. End the loops, in case they can see the host's writes.
            let deadline = deadline + settings.drain_timeout;
            status = self.drain(state, deadline, limit, || end_hang(state), when_idle);
        }
        let cause = match status {
            DrainStatus::Pending => return false,
            DrainStatus::Idle if driver_lost.get() => Cause::Driver,
            DrainStatus::Idle => Cause::Abort { drained: true },
            DrainStatus::DriverLost => Cause::Driver,
            DrainStatus::TimedOut => {
                loss.undrained.store(true, Ordering::Release);
                Cause::Abort { drained: false }
            }
        };
        loss.enter(Phase::Sealed);
        self.complete_loss(state, cause);
        true
    }

    /// Handles `VK_ERROR_DEVICE_LOST` from the driver. All submitted work then counts as complete ("Lost Device": the
    /// result is equivalent to `VK_SUCCESS` for the pending state and for resources in use).
    pub(super) fn lose_with_driver(&self, state: &AbortState) {
        let _deadline = lock(&state.loss.drain_deadline);
        if !state.loss.is_lost() {
            state.loss.enter(Phase::Sealed);
            self.complete_loss(state, Cause::Driver);
        }
    }

    /// Takes the snapshot, delivers the report and publishes the loss. Runs once per device, under the drain's lock.
    fn complete_loss(&self, state: &AbortState, cause: Cause) {
        let (data, faults) = report::report_loss(self, state, cause);
        let _ = state.loss.data.set(data);
        if state.requested.fault {
            state.faults.push(faults);
        }
        state.loss.enter(Phase::Lost);
        // Wakes the threads that wait for reports.
        state.faults.push([]);
    }

    /// `on_abort = continue`: reports new records, and empties the arena once the queues are idle. Returns whether the device is lost,
    /// as by an abort of the program's own under `on_abort = continue_checks`.
    fn report_and_continue(&self, state: &AbortState, deadline: &mut Option<Instant>, limit: Option<Instant>) -> bool {
        let Some(arena) = &state.arena else {
            return false;
        };
        let loss = &state.loss;
        let timeout = self.instance.settings.drain_timeout;
        let drain_deadline = *deadline.get_or_insert_with(|| Instant::now() + timeout);
        // Before the records are read: they cover the aborts of all objects that are destroyed by now.
        let destroyed = state.objects.destroyed();
        let mut new = None;
        // Otherwise work of the last report was still running then.
        let is_new_submit = loss.reported_units.load(Ordering::Relaxed) == 0;
        let find_sites = &|hash| state.objects.find_sites(hash);
        let when_idle = |queues: &[Arc<Queue>]| {
            let records = arena.read(
                RecordRange::ToCursor(loss.reported_units.load(Ordering::Relaxed)),
                find_sites,
            );
            let loses = report::has_losing_abort(self, state, &records);
            new = Some((records, state.suspects(queues)));
            if loses {
                loss.enter(Phase::Sealed);
                return;
            }
            WaitMark::of_queues(queues).mark_completed();
            arena.reset();
            loss.reported_units.store(0, Ordering::Relaxed);
        };
        match self.drain(state, drain_deadline, limit, || {}, when_idle) {
            DrainStatus::Pending | DrainStatus::DriverLost => return false,
            DrainStatus::Idle if loss.is_sealed() => {
                self.complete_loss(state, Cause::Abort { drained: true });
                return true;
            }
            DrainStatus::Idle => *deadline = None,
            DrainStatus::TimedOut => {
                let (records, end) = arena.read_finished(loss.reported_units.load(Ordering::Relaxed), find_sites);
                if report::has_losing_abort(self, state, &records) {
                    loss.undrained.store(true, Ordering::Release);
                    loss.enter(Phase::Sealed);
                    self.complete_loss(state, Cause::Abort { drained: false });
                    return true;
                }
                loss.reported_units.store(end, Ordering::Relaxed);
                new = Some((records, state.suspects(&state.queues.values())));
                *deadline = Some(Instant::now() + timeout);
            }
        }
        if let Some((records, suspects)) = new {
            report::report_and_continue(self, state, records, suspects, is_new_submit);
            state.objects.forget_destroyed(destroyed);
        }
        false
    }

    /// Retries a timed-out drain once with the same timeout, before the device is destroyed.
    pub fn drain_again(&self) {
        let Some(state) = &self.state else { return };
        let _deadline = lock(&state.loss.drain_deadline);
        let deadline = Instant::now() + self.instance.settings.drain_timeout;
        let when_idle = |_: &[Arc<Queue>]| state.loss.undrained.store(false, Ordering::Release);
        let status = self.drain(state, deadline, None, || end_hang(state), when_idle);
        if matches!(status, DrainStatus::DriverLost) {
            state.loss.undrained.store(false, Ordering::Release);
        }
    }
}

/// Ends the loops of invocations that hang because of `trap = hang`.
fn end_hang(state: &AbortState) {
    if let Some(arena) = state.arena.as_ref().filter(|_| state.options.trap == Trap::Hang) {
        arena.end_hang();
    }
}
