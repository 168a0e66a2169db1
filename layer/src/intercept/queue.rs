//! `VkQueue`.

use super::{MISSING, command, guarded, wait};
use crate::device::state::submit_counters as suspects;
use crate::device::state::{Device, Place};
use crate::device_loss::DrainBudget;
use crate::loader::dispatch::DeviceTable;
use crate::loader::ffi::PfnQueueSetPerfHint;
use crate::loader::registry::device_of;
use ash::vk;
use std::ffi::c_void;

/// An entry point that hands a list to a queue.
type SubmitFn<T> = unsafe extern "system" fn(vk::Queue, u32, *const T, vk::Fence) -> vk::Result;

/// The application asks for a queue: reports say which family it is of.
pub unsafe extern "system" fn get(device: vk::Device, family: u32, index: u32, queue: *mut vk::Queue) {
    guarded((), || {
        // SAFETY: a valid device, and a place for the queue by the API's rules.
        unsafe {
            let Some(known) = device_of(device) else { return };
            if let Some(next) = known.next.vkGetDeviceQueue {
                next(device, family, index, queue);
                found(known, queue, Place { family, index });
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
                    found(known, queue, Place { family, index });
                }
            }
        }
    });
}

/// # Safety
/// `queue` must be null or valid.
unsafe fn found(device: &Device, queue: *const vk::Queue, place: Place) {
    // SAFETY: the caller vouches for the pointer.
    if let (Some(state), Some(queue)) = (&device.state, unsafe { queue.as_ref() })
        && *queue != vk::Queue::null()
        && let Some(queue) = state.queue(device, *queue)
    {
        let _ = queue.place.set(place);
    }
}

/// Counts a submission for reports, if it has command buffers.
fn note(device: &Device, queue: vk::Queue, commands: impl Iterator<Item = u32>) {
    if let Some(state) = &device.state
        && commands.max().unwrap_or(0) > 0
    {
        state.submits_work(device, queue);
    }
}

/// # Safety
/// `list` must be null or have `count` elements.
unsafe fn elements<'a, T>(list: *const T, count: u32) -> &'a [T] {
    // Where the count is 0 the pointer may be anything.
    if list.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for the list.
    unsafe { std::slice::from_raw_parts(list, count as usize) }
}

/// Hands a list to the queue by the entry point of the next layer that `which` picks. An element has as many command
/// buffers as `commands_of` says.
///
/// # Safety
/// The arguments must be those of a call that the API allows.
unsafe fn submit_by<T>(
    which: fn(&DeviceTable) -> Option<SubmitFn<T>>,
    commands_of: fn(&T) -> u32,
    queue: vk::Queue,
    count: u32,
    list: *const T,
    fence: vk::Fence,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid queue.
        let Some(device) = (unsafe { device_of(queue) }) else {
            return MISSING;
        };
        // SAFETY: as many structures as the count says, by the API's rules.
        note(device, queue, unsafe { elements(list, count) }.iter().map(commands_of));
        match which(&device.next) {
            // SAFETY: forwarded as it came.
            Some(next) => device.on_queue(queue, || unsafe { next(queue, count, list, fence) }),
            None => MISSING,
        }
    })
}

pub unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let commands_of = |submit: &vk::SubmitInfo<'_>| submit.command_buffer_count;
    // SAFETY: forwarded as it came.
    unsafe { submit_by(|t| t.vkQueueSubmit, commands_of, queue, count, submits, fence) }
}

pub unsafe extern "system" fn submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let which = |t: &DeviceTable| t.vkQueueSubmit2.or(t.vkQueueSubmit2KHR);
    // SAFETY: forwarded as it came.
    unsafe { submit_by(which, commands_of_submit2, queue, count, submits, fence) }
}

pub unsafe extern "system" fn submit2_khr(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let which = |t: &DeviceTable| t.vkQueueSubmit2KHR.or(t.vkQueueSubmit2);
    // SAFETY: forwarded as it came.
    unsafe { submit_by(which, commands_of_submit2, queue, count, submits, fence) }
}

fn commands_of_submit2(submit: &vk::SubmitInfo2<'_>) -> u32 {
    submit.command_buffer_info_count
}

pub unsafe extern "system" fn bind_sparse(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: forwarded as it came.
    unsafe { submit_by(|t| t.vkQueueBindSparse, |_| 0, queue, count, infos, fence) }
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
        let before = suspects::before(state.only(queue));
        if state.arena.is_none() {
            // SAFETY: forwarded as it came.
            let result = device.checked(DrainBudget::Poll, || unsafe { next(queue) });
            return before.told(result);
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
        before.told(result)
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

pub unsafe extern "system" fn set_perf_hint(queue: vk::Queue, info: *const c_void) -> vk::Result {
    command(|| {
        // SAFETY: a valid queue.
        let Some(device) = (unsafe { device_of(queue) }) else {
            return MISSING;
        };
        let next: Option<PfnQueueSetPerfHint> = device.next.vkQueueSetPerfHintQCOM;
        match next {
            // SAFETY: forwarded as it came.
            Some(next) => device.on_queue(queue, || unsafe { next(queue, info) }),
            None => MISSING,
        }
    })
}
