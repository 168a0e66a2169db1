//! `VkFence`.

use super::queue::elements;
use super::{MISSING, command, next_of, wait};
use crate::device::state::Signal;
use crate::device_loss::{DrainBudget, WaitMark};
use ash::vk;

/// As the policy `observe`. A signalled fence covers the submissions before it.
pub unsafe extern "system" fn status(handle: vk::Device, fence: vk::Fence) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkGetFenceStatus) }) else {
            return MISSING;
        };
        let mark = WaitMark::of_signals(device, [Signal::Fence(fence)].into_iter());
        // SAFETY: the application's own arguments.
        let result = device.checked(DrainBudget::Poll, || unsafe { next(handle, fence) });
        mark.complete_without_abort(device, result)
    })
}

/// As the policy `wait`. The fences cover the submissions before them.
pub unsafe extern "system" fn wait(
    handle: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let Some((device, next)) = (unsafe { next_of(handle, |t| t.vkWaitForFences) }) else {
            return MISSING;
        };
        // A wait for any of several fences does not tell which has signalled.
        let mark = match all != vk::FALSE || count == 1 {
            true => {
                // SAFETY: valid usage: `fences` has `count` elements.
                let fences = unsafe { elements(fences, count) };
                WaitMark::of_signals(device, fences.iter().map(|fence| Signal::Fence(*fence)))
            }
            false => WaitMark::default(),
        };
        let result = wait::sliced(device, timeout, |timeout| {
            // SAFETY: the application's own arguments, except for the timeout.
            unsafe { next(handle, count, fences, all, timeout) }
        });
        mark.complete_without_abort(device, result)
    })
}
