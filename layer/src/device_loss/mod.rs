//! How a device gets lost: healthy -> quiescing -> sealed -> lost, one way.
//!
//! * *quiescing*: an abort was seen. Queue operations are still forwarded, so that work which waits for them completes,
//!   and then wait for the loss. A drain marks every queue with a fence behind all that was submitted.
//! * *sealed*: all marks have signalled, or the time for it is up. Nothing is forwarded any more. One thread takes the
//!   snapshot and delivers the report.
//! * *lost*: every command that can says `VK_ERROR_DEVICE_LOST`.
//!
//! A drain is a step that any thread may carry on, so a caller with little patience gives up early and another one
//! finishes. Locks: the drain's, then a queue's; a thread that holds a queue's lock never waits for the drain.
//!
//! Cost on a healthy device: loads of the state and one of the arena's ABORTED word per command, all in memory of the host.

mod drain;
mod drain_budget;

pub use drain_budget::DrainBudget;

use crate::arena::readback::Extent;
use crate::device::state::submit_counters as suspects;
use crate::device::state::{AbortState, Device, Outcome, Queue, create_fence};
use crate::locks::lock;
use crate::locks::lock_until;
use crate::report::{self, Cause};
use crate::settings::OnAbort;
use ash::vk;
use drain::Drained;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use vkabort_instrument::Trap;

/// Below this the device is healthy.
const QUIESCING: u8 = 1;
const SEALED: u8 = 2;
const LOST: u8 = 3;

/// How often an interruptible wait looks at the device. A wait of the application that is shorter goes to the driver
/// as it is.
pub const SLICE: Duration = Duration::from_millis(10);

/// Loss of one device.
#[derive(Default)]
pub struct Loss {
    state: AtomicU8,
    /// When the drain in progress gives up; held by the thread that carries it on.
    drain: Mutex<Option<Instant>>,
    /// The drain gave up: the driver may still use everything.
    undrained: AtomicBool,
    outcome: OnceLock<Outcome>,
    /// `on_abort = continue`: units of the arena that were reported.
    reported: AtomicU32,
    groups: AtomicU64,
}

impl Loss {
    /// The device is lost, and its outcome is there.
    pub fn is_lost(&self) -> bool {
        self.state.load(Ordering::Acquire) == LOST
    }

    /// An abort was seen, or the driver's loss.
    pub fn has_begun(&self) -> bool {
        self.state.load(Ordering::Acquire) >= QUIESCING
    }

    /// Queue operations are not forwarded any more.
    pub fn is_sealed(&self) -> bool {
        self.state.load(Ordering::Acquire) >= SEALED
    }

    /// The driver may still be using the device's objects: none of them may be destroyed.
    pub fn is_undrained(&self) -> bool {
        self.undrained.load(Ordering::Acquire)
    }

    /// What is left of the device, once it is lost.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.get()
    }

    /// `on_abort = continue`: units of the arena that were reported and are still there.
    pub fn reported(&self) -> u32 {
        self.reported.load(Ordering::Relaxed)
    }

    /// A number for the next group of fault reports.
    pub fn next_group(&self) -> u64 {
        self.groups.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Device {
    /// Whether commands have to fail.
    pub fn is_lost(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.loss.is_lost())
    }

    /// Runs a command that may report the loss, on a device that is not lost yet.
    pub fn checked(&self, budget: DrainBudget, call: impl FnOnce() -> vk::Result) -> vk::Result {
        if self.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        self.observe(call(), budget)
    }

    /// Looks at the device after a command, and replaces the command's result if the device is lost.
    pub fn observe(&self, result: vk::Result, budget: DrainBudget) -> vk::Result {
        match &self.state {
            Some(state) if result == vk::Result::ERROR_DEVICE_LOST || state.aborted() => {
                self.observe_loss(state, result, budget)
            }
            _ => result,
        }
    }

    #[cold]
    fn observe_loss(&self, state: &AbortState, result: vk::Result, budget: DrainBudget) -> vk::Result {
        if result == vk::Result::ERROR_DEVICE_LOST {
            self.lose_with_driver(state);
            return result;
        }
        let budget = match budget {
            DrainBudget::Poll if result == vk::Result::SUCCESS => DrainBudget::Grace,
            other => other,
        };
        if self.advance(state, budget) {
            vk::Result::ERROR_DEVICE_LOST
        } else {
            result
        }
    }

    /// Forwards an operation on a queue, unless the device is sealed.
    pub fn on_queue(&self, queue: vk::Queue, call: impl FnOnce() -> vk::Result) -> vk::Result {
        let Some(state) = &self.state else {
            return call();
        };
        if state.loss.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        match state.on_queue(self, queue, call) {
            Some(result) => self.observe(result, DrainBudget::Drain),
            None => self.wait_for_loss(state),
        }
    }

    /// The answer of a command that found the device sealed.
    pub fn wait_for_loss(&self, state: &AbortState) -> vk::Result {
        drop(lock(&state.loss.drain));
        vk::Result::ERROR_DEVICE_LOST
    }

    /// Brings the handling of an abort forward. True: the device is lost.
    pub fn advance(&self, state: &AbortState, budget: DrainBudget) -> bool {
        let loss = &state.loss;
        if loss.is_lost() {
            return true;
        }
        let limit = budget.limit();
        let Some(mut drain) = lock_until(&loss.drain, limit) else {
            return false;
        };
        if loss.is_lost() {
            return true;
        }
        if !state.aborted() {
            return false;
        }
        match self.instance.settings.on_abort {
            OnAbort::Lose => self.lose(state, &mut drain, limit),
            OnAbort::Continue => {
                self.report_and_go_on(state, &mut drain, limit);
                false
            }
        }
    }

    fn lose(&self, state: &AbortState, drain: &mut Option<Instant>, limit: Option<Instant>) -> bool {
        let loss = &state.loss;
        loss.state.store(QUIESCING, Ordering::Release);
        let first = match state.options.trap {
            Trap::Return => self.instance.settings.drain_timeout,
            // First the driver is to lose the device.
            Trap::Fault | Trap::Hang => self.instance.settings.trap_timeout,
        };
        let deadline = *drain.get_or_insert_with(|| Instant::now() + first);
        let lost = Cell::new(false);
        let at_rest = |_: &[Arc<Queue>]| {
            lost.set(state.options.trap != Trap::Return && self.driver_has_lost());
            loss.state.store(SEALED, Ordering::Release);
        };
        let mut drained = self.drain(state, deadline, limit, || {}, at_rest);
        if matches!(drained, Drained::GivenUp) && state.options.trap == Trap::Hang {
            // The driver has no watchdog, or a patient one. The loops end now, if they see what the host writes.
            let deadline = deadline + self.instance.settings.drain_timeout;
            drained = self.drain(state, deadline, limit, || state.end_hang(), at_rest);
        }
        let cause = match drained {
            Drained::NotYet => return false,
            Drained::AtRest if lost.get() => Cause::Driver,
            Drained::AtRest => Cause::Abort { drained: true },
            Drained::DriverLost => Cause::Driver,
            Drained::GivenUp => {
                loss.undrained.store(true, Ordering::Release);
                Cause::Abort { drained: false }
            }
        };
        loss.state.store(SEALED, Ordering::Release);
        self.conclude(state, cause);
        true
    }

    /// The driver said `VK_ERROR_DEVICE_LOST`: whatever was submitted counts as completed.
    fn lose_with_driver(&self, state: &AbortState) {
        let _drain = lock(&state.loss.drain);
        if !state.loss.is_lost() {
            state.loss.state.store(SEALED, Ordering::Release);
            self.conclude(state, Cause::Driver);
        }
    }

    /// Takes the snapshot, tells everybody, and publishes the loss. Once per device, under the drain's lock.
    fn conclude(&self, state: &AbortState, cause: Cause) {
        let conclusion = report::conclude(self, state, cause);
        let _ = state.loss.outcome.set(conclusion.outcome);
        if state.enabled.fault {
            state.faults.push(conclusion.faults);
        }
        state.loss.state.store(LOST, Ordering::Release);
        state.faults.push([]);
    }

    /// `on_abort = continue`: reports what is new and, once the queues are at rest, empties the arena.
    fn report_and_go_on(&self, state: &AbortState, drain: &mut Option<Instant>, limit: Option<Instant>) {
        let Some(arena) = &state.arena else {
            return;
        };
        let now = Instant::now();
        let deadline = *drain.get_or_insert_with(|| now + self.instance.settings.drain_timeout);
        let mut records = None;
        let drained = self.drain(
            state,
            deadline,
            limit,
            || {},
            |queues| {
                records = Some((arena.read(Extent::From(state.loss.reported())), state.suspects(queues)));
                suspects::before(queues.to_vec()).ended_well();
                arena.reset();
                state.loss.reported.store(0, Ordering::Relaxed);
            },
        );
        match drained {
            Drained::NotYet | Drained::DriverLost => return,
            Drained::AtRest => *drain = None,
            Drained::GivenUp => {
                let read = arena.read(Extent::From(state.loss.reported()));
                state.loss.reported.store(read.end, Ordering::Relaxed);
                records = Some((read, state.suspects(&state.queues.values())));
                *drain = Some(Instant::now() + self.instance.settings.drain_timeout);
            }
        }
        if let Some((read, suspects)) = records {
            report::go_on(self, state, &read.records, suspects);
        }
    }

    /// Gives a device that could not be drained a second chance, as long as the first: at its destruction nobody submits
    /// any more. What was leaked since the loss stays leaked.
    pub fn drain_again(&self) {
        let Some(state) = &self.state else { return };
        let _drain = lock(&state.loss.drain);
        let deadline = Instant::now() + self.instance.settings.drain_timeout;
        let drained = self.drain(
            state,
            deadline,
            None,
            || state.end_hang(),
            |_| state.loss.undrained.store(false, Ordering::Release),
        );
        if matches!(drained, Drained::DriverLost) {
            state.loss.undrained.store(false, Ordering::Release);
        }
    }
}

impl AbortState {
    /// Some invocation has aborted: two loads, one of mapped memory. It stays so when the loops of `trap = hang` are ended,
    /// and when the driver's loss takes the memory away.
    pub fn aborted(&self) -> bool {
        self.loss.has_begun() || self.arena.as_ref().is_some_and(|arena| arena.aborted())
    }

    /// Ends the loops of invocations that hang by `trap = hang`.
    fn end_hang(&self) {
        if let Some(arena) = self.arena.as_ref().filter(|_| self.options.trap == Trap::Hang) {
            arena.end_hang();
        }
    }

    /// The queue behind a handle, remembered from its first use on.
    pub fn queue(&self, device: &Device, handle: vk::Queue) -> Option<&Queue> {
        use vk::Handle as _;
        // SAFETY: queues stay in the map as long as the device.
        unsafe {
            self.queues.get_or_insert(handle.as_raw() as usize, || {
                // Without an arena nothing is ever drained.
                let mark = self
                    .arena
                    .as_ref()
                    .and_then(|_| create_fence(device.handle, &device.next));
                Arc::new(Queue::new(handle, mark.unwrap_or_default()))
            })
        }
    }

    /// Forwards an operation on a queue under its lock. None: the device is sealed.
    pub fn on_queue(
        &self,
        device: &Device,
        handle: vk::Queue,
        call: impl FnOnce() -> vk::Result,
    ) -> Option<vk::Result> {
        // Without an arena nothing is ever drained.
        let queue = match &self.arena {
            Some(_) => self.queue(device, handle),
            None => None,
        };
        let Some(queue) = queue else {
            return Some(call());
        };
        let mut work = lock(&queue.work);
        if self.loss.is_sealed() {
            return None;
        }
        work.submitted += 1;
        Some(call())
    }
}
