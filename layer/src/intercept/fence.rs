//! `VkFence`.

use super::{MISSING, command, wait};
use crate::device_loss::DrainBudget;
use crate::loader::registry::device_of;
use ash::vk;

pub unsafe extern "system" fn status(device: vk::Device, fence: vk::Fence) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        match unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkGetFenceStatus?))) {
            // SAFETY: forwarded as it came.
            Some((known, next)) => known.checked(DrainBudget::Poll, || unsafe { next(device, fence) }),
            None => MISSING,
        }
    })
}

pub unsafe extern "system" fn wait(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        match unsafe { device_of(device) }.and_then(|d| Some((d, d.next.vkWaitForFences?))) {
            // SAFETY: forwarded as it came, but for the timeout.
            Some((known, next)) => wait::sliced(known, timeout, |slice| unsafe {
                next(device, count, fences, all, slice)
            }),
            None => MISSING,
        }
    })
}
