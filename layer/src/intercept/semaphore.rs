//! `VkSemaphore`, timelines.

use super::{MISSING, command, wait as waits};
use crate::device_loss::DrainBudget;
use crate::loader::dispatch::DeviceTable;
use crate::loader::registry::device_of;
use ash::vk;

unsafe fn counter_value_by(
    which: fn(&DeviceTable) -> Option<vk::PFN_vkGetSemaphoreCounterValue>,
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        match unsafe { device_of(device) }.and_then(|d| Some((d, which(&d.next)?))) {
            // SAFETY: forwarded as it came.
            Some((known, next)) => known.checked(DrainBudget::Poll, || unsafe { next(device, semaphore, value) }),
            None => MISSING,
        }
    })
}

pub unsafe extern "system" fn counter_value(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    let which = |t: &DeviceTable| t.vkGetSemaphoreCounterValue.or(t.vkGetSemaphoreCounterValueKHR);
    // SAFETY: forwarded as it came.
    unsafe { counter_value_by(which, device, semaphore, value) }
}

pub unsafe extern "system" fn counter_value_khr(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    let which = |t: &DeviceTable| t.vkGetSemaphoreCounterValueKHR.or(t.vkGetSemaphoreCounterValue);
    // SAFETY: forwarded as it came.
    unsafe { counter_value_by(which, device, semaphore, value) }
}

unsafe fn wait_by(
    which: fn(&DeviceTable) -> Option<vk::PFN_vkWaitSemaphores>,
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    command(|| {
        // SAFETY: a valid device.
        match unsafe { device_of(device) }.and_then(|d| Some((d, which(&d.next)?))) {
            // SAFETY: forwarded as it came, but for the timeout.
            Some((known, next)) => waits::sliced(known, timeout, |slice| unsafe { next(device, info, slice) }),
            None => MISSING,
        }
    })
}

pub unsafe extern "system" fn wait(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: forwarded as it came.
    unsafe { wait_by(|t| t.vkWaitSemaphores.or(t.vkWaitSemaphoresKHR), device, info, timeout) }
}

pub unsafe extern "system" fn wait_khr(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: forwarded as it came.
    unsafe { wait_by(|t| t.vkWaitSemaphoresKHR.or(t.vkWaitSemaphores), device, info, timeout) }
}
