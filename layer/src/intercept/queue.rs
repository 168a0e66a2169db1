//! `VkQueue`.

use super::{MISSING, command, guarded, wait};
use crate::device::state::{Device, QueueLocation};
use crate::device_loss::{DrainBudget, WaitMark};
use crate::loader::registry::device_of;
use ash::vk;

/// The application asks for a queue: reports say which family it is of.
pub unsafe extern "system" fn get(device: vk::Device, family: u32, index: u32, queue: *mut vk::Queue) {
    guarded((), || {
        // SAFETY: a valid device, and a place for the queue by the API's rules.
        unsafe {
            let Some(known) = device_of(device) else { return };
            if let Some(next) = known.next.vkGetDeviceQueue {
                next(device, family, index, queue);
                found(known, queue, QueueLocation { family, index });
            }
        }
    });
}

/// As [`get`], for queues with flags too.
pub unsafe extern "system" fn get2(device: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, queue: *mut vk::Queue) {
    guarded((), || {
        // SAFETY: a valid device and structure, and a place for the queue by the API's rules.
        unsafe {
            let Some(known) = device_of(device) else { return };
            if let Some(next) = known.next.vkGetDeviceQueue2 {
                next(device, info, queue);
                if let Some(info) = info.as_ref() {
                    let (family, index) = (info.queue_family_index, info.queue_index);
                    found(known, queue, QueueLocation { family, index });
                }
            }
        }
    });
}

/// # Safety
/// `queue` must be null or valid.
unsafe fn found(device: &Device, queue: *const vk::Queue, location: QueueLocation) {
    // SAFETY: the caller vouches for the pointer.
    if let (Some(state), Some(queue)) = (&device.state, unsafe { queue.as_ref() })
        && *queue != vk::Queue::null()
        && let Some(queue) = state.queue(device, *queue)
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

/// The elements of an array of the API. Where `count` is 0, `list` may be any pointer.
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

/// A wait that cannot be interrupted would never end while a shader spins, so the layer first waits by a fence of its
/// own and then lets the driver do the rest (presentation, for one), which takes no time.
pub unsafe extern "system" fn wait_idle(queue: vk::Queue) -> vk::Result {
    command(|| {
        // SAFETY: a valid queue.
        let Some(device) = (unsafe { device_of(queue) }) else {
            return MISSING;
        };
        let Some(next) = device.next.vkQueueWaitIdle else {
            return MISSING;
        };
        let Some(state) = &device.state else {
            // SAFETY: forwarded as it came.
            return unsafe { next(queue) };
        };
        let mark = WaitMark::of_queue(state, queue);
        if state.arena.is_none() {
            // SAFETY: forwarded as it came.
            let result = device.checked(DrainBudget::Poll, || unsafe { next(queue) });
            return mark.complete_if_successful(result);
        }
        if device.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        let result = match wait::for_queues(device, state, &[queue]) {
            vk::Result::SUCCESS => {
                // SAFETY: forwarded as it came; the queue's lock keeps a drain off it.
                match state.on_queue(device, queue, || unsafe { next(queue) }) {
                    Some(result) => device.observe(result, DrainBudget::Drain),
                    None => device.wait_for_loss(state),
                }
            }
            other => device.observe(other, DrainBudget::Drain),
        };
        mark.complete_if_successful(result)
    })
}

pub unsafe extern "system" fn present(queue: vk::Queue, info: *const vk::PresentInfoKHR<'_>) -> vk::Result {
    command(|| {
        // SAFETY: a valid queue.
        let Some(device) = (unsafe { device_of(queue) }) else {
            return MISSING;
        };
        let Some(next) = device.next.vkQueuePresentKHR else {
            return MISSING;
        };
        // SAFETY: forwarded as it came.
        let result = device.on_queue(queue, || unsafe { next(queue, info) });
        if result == vk::Result::ERROR_DEVICE_LOST {
            // SAFETY: valid by the API's rules; `pResults` is null or has one element per swapchain.
            unsafe {
                if let Some(info) = info.as_ref()
                    && !info.p_results.is_null()
                {
                    for index in 0..info.swapchain_count as usize {
                        info.p_results.add(index).write(result);
                    }
                }
            }
        }
        result
    })
}
