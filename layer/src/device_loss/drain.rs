//! Waits until all queues are idle, by a fence behind all work of each.

use super::SLICE;
use crate::device::state::{Queue, QueueWork};
use crate::device::{AbortState, Device};
use crate::locks::{RETRY, try_lock};
use crate::sync::{Arc, Instant, MutexGuard, sleep};
use ash::vk;
use std::ptr;
use std::time::Duration;

/// The progress of a drain.
pub enum DrainStatus {
    /// All queues are idle.
    Idle,
    /// The caller's budget is used up; another caller may continue.
    Pending,
    /// The drain's deadline has passed.
    TimedOut,
    /// The driver has lost the device.
    DriverLost,
}

impl Device {
    /// Whether the driver has lost the device. Asks `vkDeviceWaitIdle`, since a fence of a device that was reset may signal
    /// like any other. All queues must be idle and locked.
    pub(super) fn driver_has_lost(&self) -> bool {
        let wait = self.next.vkDeviceWaitIdle;
        // SAFETY: the device is valid, and the locks on all queues provide the external synchronisation.
        wait.is_some_and(|wait| unsafe { wait(self.handle) } == vk::Result::ERROR_DEVICE_LOST)
    }

    /// Waits for all submitted work until `deadline`, and no longer than `limit`. Calls `poll` before every check, and
    /// `when_idle` once, while all queues are idle and locked.
    pub(super) fn drain(
        &self,
        state: &AbortState,
        deadline: Instant,
        limit: Option<Instant>,
        poll: impl Fn(),
        when_idle: impl FnOnce(&[Arc<Queue>]),
    ) -> DrainStatus {
        let mut when_idle = Some(when_idle);
        loop {
            poll();
            let mut fences = Vec::new();
            let mut busy = false;
            for queue in state.queues.values() {
                match try_lock(&queue.work) {
                    Some(mut work) => match self.submit_drain_fence(&queue, &mut work) {
                        Ok(true) => fences.push(queue.drain_fence),
                        Ok(false) => busy |= !work.is_idle(),
                        Err(DriverLost) => return DrainStatus::DriverLost,
                    },
                    None => busy = true,
                }
            }
            if fences.is_empty() && !busy && state.queues.frozen(|queues| run_if_idle(queues, &mut when_idle)) {
                return DrainStatus::Idle;
            }
            let now = Instant::now();
            if now >= deadline {
                return DrainStatus::TimedOut;
            }
            if limit.is_some_and(|limit| now >= limit) {
                return DrainStatus::Pending;
            }
            let until = limit.map_or(deadline, |limit| limit.min(deadline));
            if self.wait_for_any(&fences, (until - now).min(SLICE)) == vk::Result::ERROR_DEVICE_LOST {
                return DrainStatus::DriverLost;
            }
        }
    }

    /// Submits the queue's drain fence behind its work. Returns whether the fence is pending: not if the queue is idle, or if
    /// the fence cannot be submitted.
    fn submit_drain_fence(&self, queue: &Queue, work: &mut QueueWork) -> Result<bool, DriverLost> {
        let next = &self.next;
        let (Some(status), Some(reset), Some(submit)) = (next.vkGetFenceStatus, next.vkResetFences, next.vkQueueSubmit)
        else {
            return Ok(false);
        };
        let fence = queue.drain_fence;
        if fence == vk::Fence::null() {
            return Ok(false);
        }
        if work.fence_pending {
            // SAFETY: this layer created the fence on this device.
            match unsafe { status(self.handle, fence) } {
                // SAFETY: the fence has signalled, so it is not pending, and only the holder of the queue's lock uses it.
                vk::Result::SUCCESS => match unsafe { reset(self.handle, 1, &fence) } {
                    vk::Result::SUCCESS => work.fence_pending = false,
                    _ => return Ok(true),
                },
                vk::Result::ERROR_DEVICE_LOST => return Err(DriverLost),
                _ => return Ok(true),
            }
        }
        if work.submitted != work.fenced {
            // SAFETY: the queue's lock is held, and the fence is unsignalled and not pending.
            match unsafe { submit(queue.handle, 0, ptr::null(), fence) } {
                vk::Result::SUCCESS => {
                    work.fenced = work.submitted;
                    work.fence_pending = true;
                }
                vk::Result::ERROR_DEVICE_LOST => return Err(DriverLost),
                _ => return Ok(false),
            }
        }
        Ok(work.fence_pending)
    }

    /// Waits until any of the fences signals. Without fences, sleeps for a moment.
    fn wait_for_any(&self, fences: &[vk::Fence], timeout: Duration) -> vk::Result {
        match self.next.vkWaitForFences {
            Some(wait) if !fences.is_empty() => {
                let (count, timeout) = (fences.len() as u32, timeout.as_nanos() as u64);
                // SAFETY: this layer created the fences on this device and destroys them only with the device.
                unsafe { wait(self.handle, count, fences.as_ptr(), vk::FALSE, timeout) }
            }
            _ => {
                sleep(timeout.min(RETRY));
                vk::Result::TIMEOUT
            }
        }
    }
}

/// The driver returned `VK_ERROR_DEVICE_LOST`.
struct DriverLost;

/// Locks all queues and, if all are idle, runs `when_idle` before they are unlocked. No queue can be added meanwhile.
fn run_if_idle(queues: &[Arc<Queue>], when_idle: &mut Option<impl FnOnce(&[Arc<Queue>])>) -> bool {
    let guards: Vec<MutexGuard<'_, QueueWork>> = queues.iter().map_while(|queue| try_lock(&queue.work)).collect();
    if guards.len() != queues.len() || !guards.iter().all(|work| work.is_idle()) {
        return false;
    }
    if let Some(when_idle) = when_idle.take() {
        when_idle(queues);
    }
    true
}
