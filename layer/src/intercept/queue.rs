//! `VkQueue`.

use super::{MISSING, command, wait};
use crate::ffi::PfnQueueSetPerfHint;
use crate::lost::Patience;
use crate::registry::device_of;
use ash::vk;
use std::ffi::c_void;

pub unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid queue.
        let Some(device) = (unsafe { device_of(queue) }) else {
            return MISSING;
        };
        match device.next.vkQueueSubmit {
            // SAFETY: forwarded as it came.
            Some(next) => device.on_queue(queue, || unsafe { next(queue, count, submits, fence) }),
            None => MISSING,
        }
    })
}

unsafe fn submit2_by(
    which: fn(&crate::dispatch::DeviceTable) -> Option<vk::PFN_vkQueueSubmit2>,
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid queue.
        let Some(device) = (unsafe { device_of(queue) }) else {
            return MISSING;
        };
        match which(&device.next) {
            // SAFETY: forwarded as it came.
            Some(next) => device.on_queue(queue, || unsafe { next(queue, count, submits, fence) }),
            None => MISSING,
        }
    })
}

pub unsafe extern "system" fn submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: forwarded as it came.
    unsafe {
        submit2_by(
            |t| t.vkQueueSubmit2.or(t.vkQueueSubmit2KHR),
            queue,
            count,
            submits,
            fence,
        )
    }
}

pub unsafe extern "system" fn submit2_khr(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: forwarded as it came.
    unsafe {
        submit2_by(
            |t| t.vkQueueSubmit2KHR.or(t.vkQueueSubmit2),
            queue,
            count,
            submits,
            fence,
        )
    }
}

pub unsafe extern "system" fn bind_sparse(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid queue.
        let Some(device) = (unsafe { device_of(queue) }) else {
            return MISSING;
        };
        match device.next.vkQueueBindSparse {
            // SAFETY: forwarded as it came.
            Some(next) => device.on_queue(queue, || unsafe { next(queue, count, infos, fence) }),
            None => MISSING,
        }
    })
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
        let Some((active, _)) = device.arena() else {
            // SAFETY: forwarded as it came.
            return device.checked(Patience::Poll, || unsafe { next(queue) });
        };
        if device.is_lost() {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        match wait::for_queues(device, active, &[queue]) {
            vk::Result::SUCCESS => {
                // SAFETY: forwarded as it came; the queue's lock keeps a drain off it.
                match active.on_queue(device, queue, || unsafe { next(queue) }) {
                    Some(result) => device.observe(result, Patience::Drain),
                    None => device.wait_for_loss(active),
                }
            }
            other => device.observe(other, Patience::Drain),
        }
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
