//! `VkFence`.

use super::wait;
use crate::device::state::Signal;
use crate::device_loss::{DrainBudget, WaitMark};
use crate::loader::ffi::elements;
use ash::vk;

/// As the policy `observe`. A signalled fence covers the submissions before it.
pub unsafe extern "system" fn status(handle: vk::Device, fence: vk::Fence) -> vk::Result {
    // SAFETY: valid usage: the device and the fence are live.
    unsafe {
        forward!(handle, vkGetFenceStatus, |device, next| {
            let mark = WaitMark::of_signals(device, [Signal::Fence(fence)].into_iter());
            let result = device.checked(DrainBudget::Poll, || next(handle, fence));
            mark.complete_without_abort(device, result)
        })
    }
}

/// As the policy `wait`. The fences cover the submissions before them.
pub unsafe extern "system" fn wait(
    handle: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, and `fences` has `count` elements; all arguments but the timeout are passed on.
    unsafe {
        forward!(handle, vkWaitForFences, |device, next| {
            // A wait for any of several fences does not tell which has signalled.
            let mark = match all != vk::FALSE || count == 1 {
                true => {
                    let fences = elements(fences, count).iter();
                    WaitMark::of_signals(device, fences.map(|fence| Signal::Fence(*fence)))
                }
                false => WaitMark::default(),
            };
            let result = wait::sliced(device, timeout, |timeout| next(handle, count, fences, all, timeout));
            mark.complete_without_abort(device, result)
        })
    }
}
