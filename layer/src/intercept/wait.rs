//! Waits that end in finite time: a long wait goes to the driver in slices, with a look at the device in between.

use crate::device::state::{AbortState, Device};
use crate::device_loss::{DrainBudget, SLICE};
use crate::locks::lock;
use ash::vk;
use std::ptr;
use std::time::{Duration, Instant};

/// Waits up to `timeout` nanoseconds with `wait`, which takes a timeout and says `VK_TIMEOUT` or `VK_NOT_READY` when it
/// is over.
pub fn sliced(device: &Device, timeout: u64, mut wait: impl FnMut(u64) -> vk::Result) -> vk::Result {
    if device.is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    let Some((state, _)) = device.arena() else {
        return device.observe(wait(timeout), DrainBudget::Poll);
    };
    // Timeouts beyond what a clock can count never come.
    let deadline = Instant::now().checked_add(Duration::from_nanos(timeout));
    let infinite = timeout == u64::MAX || deadline.is_none();
    let budget = match deadline {
        Some(deadline) if !infinite => DrainBudget::Until(deadline),
        _ => DrainBudget::Drain,
    };
    loop {
        let left = match deadline {
            Some(deadline) if !infinite => deadline.saturating_duration_since(Instant::now()),
            _ => Duration::MAX,
        };
        let last = left <= SLICE;
        // A timeout that fits into one slice goes down as it came.
        let slice = match last {
            true if timeout <= SLICE.as_nanos() as u64 => timeout,
            true => left.as_nanos() as u64,
            false => SLICE.as_nanos() as u64,
        };
        let result = wait(slice);
        let over = result == vk::Result::TIMEOUT || result == vk::Result::NOT_READY;
        if !over {
            return device.observe(result, max(budget));
        }
        if last {
            return device.observe(result, DrainBudget::Poll);
        }
        if state.aborted() && device.advance(state, budget) {
            return vk::Result::ERROR_DEVICE_LOST;
        }
    }
}

/// Completed work deserves a moment for the loss to become visible.
fn max(budget: DrainBudget) -> DrainBudget {
    match budget {
        DrainBudget::Drain => DrainBudget::Drain,
        _ => DrainBudget::Grace,
    }
}

/// Waits until everything that was submitted to `queues` has completed, in slices, by a fence behind it.
///
/// `VK_SUCCESS` says that an ordinary wait will now return at once. None of the application's threads may be submitting
/// to these queues: that is a rule of the commands that wait for idle queues.
pub fn for_queues(device: &Device, state: &AbortState, queues: &[vk::Queue]) -> vk::Result {
    let (Some(submit), Some(wait)) = (device.next.vkQueueSubmit, device.next.vkWaitForFences) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    let mut fences = Vec::new();
    let mut result = vk::Result::SUCCESS;
    for queue in queues {
        let Some(fence) = state.fences.take(device.handle, &device.next) else {
            result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
            break;
        };
        // SAFETY: the fence is ours and unsignalled; the queue's lock is held.
        let submitted = state.on_queue(device, *queue, || unsafe { submit(*queue, 0, ptr::null(), fence) });
        match submitted {
            Some(vk::Result::SUCCESS) => fences.push(fence),
            Some(error) => {
                state.fences.abandon(fence);
                result = error;
                break;
            }
            None => {
                state.fences.abandon(fence);
                result = device.wait_for_loss(state);
                break;
            }
        }
    }
    if result == vk::Result::SUCCESS && !fences.is_empty() {
        // SAFETY: fences of ours on our device.
        result = sliced(device, u64::MAX, |slice| unsafe {
            wait(device.handle, fences.len() as u32, fences.as_ptr(), vk::TRUE, slice)
        });
    }
    for fence in fences {
        // After a loss the fence may still be pending.
        if result == vk::Result::SUCCESS {
            state.fences.put_back(device.handle, &device.next, fence);
        } else {
            state.fences.abandon(fence);
        }
    }
    result
}

/// Runs `call` with the locks of all queues held, so that a drain cannot submit meanwhile.
pub fn with_all_queues<R>(state: &AbortState, call: impl FnOnce() -> R) -> R {
    let queues = state.queues.values();
    let _held: Vec<_> = queues.iter().map(|queue| lock(&queue.work)).collect();
    call()
}
