//! Waits that end in finite time: long waits call the driver in slices, and observe the device in between.

use crate::device::{AbortState, Device};
use crate::device_loss::{DrainBudget, SLICE};
use crate::locks::lock;
use crate::report;
use ash::vk;
use std::ptr;
use std::time::{Duration, Instant};

/// Waits up to `timeout` nanoseconds by calls of `wait`, which takes a timeout in nanoseconds, and returns `VK_TIMEOUT` or
/// `VK_NOT_READY` once it has elapsed.
pub fn sliced(device: &Device, timeout: u64, mut wait: impl FnMut(u64) -> vk::Result) -> vk::Result {
    if device.is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    let Some((state, _)) = device.arena() else {
        return device.observe(wait(timeout), DrainBudget::Poll);
    };
    // None for an infinite timeout, or one that the clock cannot represent.
    let deadline = Instant::now()
        .checked_add(Duration::from_nanos(timeout))
        .filter(|_| timeout != u64::MAX);
    let budget = deadline.map_or(DrainBudget::Drain, DrainBudget::Until);
    loop {
        let left = deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        let last = left <= SLICE;
        // A timeout of at most one slice is passed on unchanged.
        let slice = match last {
            true if timeout <= SLICE.as_nanos() as u64 => timeout,
            true => left.as_nanos() as u64,
            false => SLICE.as_nanos() as u64,
        };
        let result = wait(slice);
        if result != vk::Result::TIMEOUT && result != vk::Result::NOT_READY {
            return device.observe(result, after_completion(budget));
        }
        if last {
            return device.observe(result, DrainBudget::Poll);
        }
        report::deliver_prints(device, state);
        if state.aborted() && device.advance(state, budget) {
            return vk::Result::ERROR_DEVICE_LOST;
        }
    }
}

/// The budget of a wait that reports completed work: at least [`DrainBudget::Grace`], even at its deadline.
fn after_completion(budget: DrainBudget) -> DrainBudget {
    match budget {
        DrainBudget::Drain => DrainBudget::Drain,
        _ => DrainBudget::Grace,
    }
}

/// Waits in slices until everything submitted to `queues` is complete, by a fence submitted to each. After `VK_SUCCESS`, the
/// driver's own wait returns soon: the application must not submit to the queues meanwhile, since the commands that wait for
/// idle queues require external synchronization.
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
        // SAFETY: the fence is the layer's own and unsignaled; the queue is locked.
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
        // SAFETY: the fences are the layer's own, of this device.
        result = sliced(device, u64::MAX, |slice| unsafe {
            wait(device.handle, fences.len() as u32, fences.as_ptr(), vk::TRUE, slice)
        });
    }
    for fence in fences {
        // A pending fence cannot be reset.
        if result == vk::Result::SUCCESS {
            state.fences.put_back(device.handle, &device.next, fence);
        } else {
            state.fences.abandon(fence);
        }
    }
    result
}

/// Runs `call` with all queues locked, so that a drain does not submit meanwhile.
pub fn with_all_queues<R>(state: &AbortState, call: impl FnOnce() -> R) -> R {
    let queues = state.queues.values();
    let _held: Vec<_> = queues.iter().map(|queue| lock(&queue.work)).collect();
    call()
}
