//! `VkSemaphore`, timeline semaphores only.

use super::{MISSING, wait};
use crate::device::state::Signal;
use crate::device_loss::{DrainBudget, WaitMark};
use crate::loader::ffi::elements;
use ash::vk;

/// As the policy `observe`. The value covers the submissions that signal it or a lower one.
pub unsafe extern "system" fn value(handle: vk::Device, semaphore: vk::Semaphore, value: *mut u64) -> vk::Result {
    // SAFETY: valid usage: device and semaphore are live, and a successful call has written `value`.
    unsafe {
        forward!(
            handle,
            vkGetSemaphoreCounterValue | vkGetSemaphoreCounterValueKHR,
            |device, next| {
                let result = device.checked(DrainBudget::Poll, || next(handle, semaphore, value));
                if result != vk::Result::SUCCESS {
                    return result;
                }
                let reached = Signal::Timeline(semaphore, *value);
                // The values of a semaphore only increase, so that this may follow the call.
                WaitMark::of_signals(device, [reached].into_iter()).complete_without_abort(device, result)
            }
        )
    }
}

/// As the policy `wait`. The values cover the submissions that signal them or lower ones.
pub unsafe extern "system" fn wait(
    handle: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: valid usage: the device is live, and `info` and its lists are valid; all arguments but the timeout are passed on.
    unsafe {
        forward!(handle, vkWaitSemaphores | vkWaitSemaphoresKHR, |device, next| {
            let Some(waited) = info.as_ref() else { return MISSING };
            // A wait for any of several semaphores does not tell which has reached its value.
            let is_any = waited.flags.contains(vk::SemaphoreWaitFlags::ANY) && waited.semaphore_count > 1;
            let mark = match is_any {
                true => WaitMark::default(),
                false => {
                    let semaphores = elements(waited.p_semaphores, waited.semaphore_count);
                    let values = elements(waited.p_values, waited.semaphore_count);
                    let signals = semaphores.iter().zip(values);
                    WaitMark::of_signals(
                        device,
                        signals.map(|(semaphore, value)| Signal::Timeline(*semaphore, *value)),
                    )
                }
            };
            let result = wait::sliced(device, timeout, |timeout| next(handle, info, timeout));
            mark.complete_without_abort(device, result)
        })
    }
}
