//! `VkQueue`.

use super::{MISSING, command, guarded, next_of, wait};
use crate::device::state::{Device, QueueLocation};
use crate::device_loss::{DrainBudget, WaitMark};
use ash::vk;

/// Forwards, and notes the queue's family for reports.
pub unsafe extern "system" fn get(handle: vk::Device, family: u32, index: u32, queue: *mut vk::Queue) {
    guarded((), || {
        // SAFETY: valid usage: the device is live, and `queue` may be written.
        unsafe {
            if let Some((device, next)) = next_of(handle, |t| t.vkGetDeviceQueue) {
                next(handle, family, index, queue);
                set_location(device, *queue, QueueLocation { family, index });
            }
        }
    });
}

/// As [`get`], also for queues that are created with flags.
pub unsafe extern "system" fn get2(handle: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, queue: *mut vk::Queue) {
    guarded((), || {
        // SAFETY: valid usage: the device is live, `info` valid, and `queue` may be written.
        unsafe {
            if let Some((device, next)) = next_of(handle, |t| t.vkGetDeviceQueue2) {
                next(handle, info, queue);
                let (family, index) = ((*info).queue_family_index, (*info).queue_index);
                set_location(device, *queue, QueueLocation { family, index });
            }
        }
    });
}

/// `vkGetDeviceQueue2` returns a null queue for flags that no queue was created with.
fn set_location(device: &Device, queue: vk::Queue, location: QueueLocation) {
    if let Some(state) = &device.state
        && queue != vk::Queue::null()
        && let Some(queue) = state.queue(device, queue)
    {
        let _ = queue.location.set(location);
    }
}

/// Counts a submission with command buffers, for reports.
pub fn count_submission(device: &Device, queue: vk::Queue) {
    if let Some(state) = &device.state {
        state.count_submission(device, queue);
    }
}

/// The elements of an array. Where `count` is 0, `list` may be any pointer.
///
/// # Safety
/// `list` must have `count` elements, which outlive the result.
pub unsafe fn elements<'a, T>(list: *const T, count: u32) -> &'a [T] {
    if list.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: `count` elements (the caller's contract).
    unsafe { std::slice::from_raw_parts(list, count as usize) }
}

/// Waits by a fence first, in slices: the driver's own wait cannot be interrupted, and does not end while a shader hangs.
/// The driver's wait then ends soon; it also covers operations without a fence, such as presentation.
pub unsafe extern "system" fn wait_idle(handle: vk::Queue) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the queue is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkQueueWaitIdle) }) else {
            return MISSING;
        };
        // SAFETY: the application's own arguments.
        let next = || unsafe { next(handle) };
        let Some(state) = &device.state else {
            return next();
        };
        let mark = WaitMark::of_queue(state, handle);
        if state.arena.is_none() {
            return mark.complete_if_successful(device.checked(DrainBudget::Poll, next));
        }
        if device.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let result = match wait::for_queues(device, state, &[handle]) {
            // Under the queue's lock, so that a drain does not submit to it meanwhile.
            vk::Result::SUCCESS => match state.on_queue(device, handle, next) {
                Some(result) => device.observe(result, DrainBudget::Drain),
                None => device.wait_for_loss(state),
            },
            other => device.observe(other, DrainBudget::Drain),
        };
        mark.complete_if_successful(result)
    })
}

/// As the policy `queue`. A loss is the result of every swapchain, too.
pub unsafe extern "system" fn present(handle: vk::Queue, info: *const vk::PresentInfoKHR<'_>) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the queue is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkQueuePresentKHR) }) else {
            return MISSING;
        };
        // SAFETY: the application's own arguments; the queue is locked.
        let result = device.on_queue(handle, || unsafe { next(handle, info) });
        if result == vk::Result::ERROR_DEVICE_LOST {
            // SAFETY: valid usage: `info` is valid, and `pResults` null or as long as the list of swapchains.
            unsafe {
                if let Some(info) = info.as_ref().filter(|info| !info.p_results.is_null()) {
                    for index in 0..info.swapchain_count as usize {
                        info.p_results.add(index).write(result);
                    }
                }
            }
        }
        result
    })
}
