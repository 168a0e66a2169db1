//! Waiting until all queues are at rest: a fence behind everything that was submitted to each.

use super::SLICE;
use crate::device::state::{AbortState, Device, Queue, Work};
use crate::locks::{RETRY, try_lock};
use ash::vk;
use std::ptr;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// How a drain ends.
pub enum Drained {
    /// All queues are at rest.
    AtRest,
    /// The caller's patience is at its end.
    NotYet,
    /// The time for draining is at its end.
    GivenUp,
    /// The driver has lost the device itself.
    DriverLost,
}

impl Device {
    /// Asks the driver, when all queues are at rest and locked: a fence of a device that was reset may be signalled as any
    /// other.
    pub fn driver_has_lost(&self) -> bool {
        let wait = self.next.vkDeviceWaitIdle;
        // SAFETY: the caller holds the locks of all queues.
        wait.is_some_and(|wait| unsafe { wait(self.handle) } == vk::Result::ERROR_DEVICE_LOST)
    }

    /// Waits for everything submitted. `look` runs again and again meanwhile, `at_rest` when all queues are idle and locked.
    pub fn drain(
        &self,
        state: &AbortState,
        deadline: Instant,
        limit: Option<Instant>,
        look: impl Fn(),
        at_rest: impl FnOnce(&[Arc<Queue>]),
    ) -> Drained {
        let mut at_rest = Some(at_rest);
        loop {
            look();
            let mut marks = Vec::new();
            let mut busy = false;
            for queue in state.queues.values() {
                match try_lock(&queue.work) {
                    Some(mut work) => match self.mark(&queue, &mut work) {
                        Ok(true) => marks.push(queue.mark),
                        Ok(false) => busy |= !work.idle(),
                        Err(()) => return Drained::DriverLost,
                    },
                    None => busy = true,
                }
            }
            if marks.is_empty() && !busy && state.queues.frozen(|queues| all_idle(queues, &mut at_rest)) {
                return Drained::AtRest;
            }
            let now = Instant::now();
            if now >= deadline {
                return Drained::GivenUp;
            }
            if limit.is_some_and(|limit| now >= limit) {
                return Drained::NotYet;
            }
            let until = limit.map_or(deadline, |limit| limit.min(deadline));
            if self.wait_for_marks(&marks, (until - now).min(SLICE)) == vk::Result::ERROR_DEVICE_LOST {
                return Drained::DriverLost;
            }
        }
    }

    /// Submits the mark of a queue if there is something to wait for. True: the mark is pending.
    fn mark(&self, queue: &Queue, work: &mut Work) -> Result<bool, ()> {
        let next = &self.next;
        let (Some(status), Some(reset), Some(submit)) = (next.vkGetFenceStatus, next.vkResetFences, next.vkQueueSubmit)
        else {
            return Ok(false);
        };
        if queue.mark == vk::Fence::null() {
            return Ok(false);
        }
        if work.pending {
            // SAFETY: our own fence on our own device.
            match unsafe { status(self.handle, queue.mark) } {
                // SAFETY: signalled, so no longer in use.
                vk::Result::SUCCESS => match unsafe { reset(self.handle, 1, &queue.mark) } {
                    vk::Result::SUCCESS => work.pending = false,
                    _ => return Ok(true),
                },
                vk::Result::ERROR_DEVICE_LOST => return Err(()),
                _ => return Ok(true),
            }
        }
        if work.submitted != work.marked {
            // SAFETY: the queue's lock is held, and the fence is ours and unsignalled.
            match unsafe { submit(queue.handle, 0, ptr::null(), queue.mark) } {
                vk::Result::SUCCESS => {
                    work.marked = work.submitted;
                    work.pending = true;
                }
                vk::Result::ERROR_DEVICE_LOST => return Err(()),
                _ => return Ok(false),
            }
        }
        Ok(work.pending)
    }

    fn wait_for_marks(&self, marks: &[vk::Fence], limit: Duration) -> vk::Result {
        match self.next.vkWaitForFences {
            Some(wait) if !marks.is_empty() => {
                // Any one of them moves the drain on; what came of it shows in the marks.
                // SAFETY: our own fences on our own device.
                unsafe {
                    wait(
                        self.handle,
                        marks.len() as u32,
                        marks.as_ptr(),
                        vk::FALSE,
                        limit.as_nanos() as u64,
                    )
                }
            }
            _ => {
                std::thread::sleep(limit.min(RETRY));
                vk::Result::TIMEOUT
            }
        }
    }
}

/// Locks all queues and, if nothing is under way on any, runs `at_rest` before they are unlocked. No queue can join
/// meanwhile.
fn all_idle(queues: &[Arc<Queue>], at_rest: &mut Option<impl FnOnce(&[Arc<Queue>])>) -> bool {
    let held: Vec<MutexGuard<'_, Work>> = queues.iter().map_while(|queue| try_lock(&queue.work)).collect();
    if held.len() != queues.len() || !held.iter().all(|work| work.idle()) {
        return false;
    }
    if let Some(at_rest) = at_rest.take() {
        at_rest(queues);
    }
    true
}
