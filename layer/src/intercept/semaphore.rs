//! `VkSemaphore`, timeline semaphores only.

use super::queue::elements;
use super::{MISSING, command, next_of, wait};
use crate::device::state::Signal;
use crate::device_loss::{DrainBudget, WaitMark};
use ash::vk;

/// As the policy `observe`. The value covers the submissions that signal it or a lower one.
pub unsafe extern "system" fn value(handle: vk::Device, semaphore: vk::Semaphore, value: *mut u64) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let next = unsafe {
            next_of(handle, |t| {
                t.vkGetSemaphoreCounterValue.or(t.vkGetSemaphoreCounterValueKHR)
            })
        };
        let Some((device, next)) = next else {
            return MISSING;
        };
        // SAFETY: the application's own arguments.
        let result = device.checked(DrainBudget::Poll, || unsafe { next(handle, semaphore, value) });
        if result != vk::Result::SUCCESS {
            return result;
        }
        // SAFETY: the successful call has written the value.
        let reached = Signal::Timeline(semaphore, unsafe { *value });
        // The values of a semaphore only increase, so that this may follow the call.
        WaitMark::of_signals(device, [reached].into_iter()).complete_without_abort(device, result)
    })
}

/// As the policy `wait`. The values cover the submissions that signal them or lower ones.
pub unsafe extern "system" fn wait(
    handle: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    command(|| {
        // SAFETY: valid usage: the device is live.
        let next = unsafe { next_of(handle, |t| t.vkWaitSemaphores.or(t.vkWaitSemaphoresKHR)) };
        // SAFETY: valid usage: `info` points to a valid structure.
        let (Some((device, next)), Some(waited)) = (next, unsafe { info.as_ref() }) else {
            return MISSING;
        };
        // A wait for any of several semaphores does not tell which has reached its value.
        let is_any = waited.flags.contains(vk::SemaphoreWaitFlags::ANY) && waited.semaphore_count > 1;
        let mark = match is_any {
            true => WaitMark::default(),
            false => {
                // SAFETY: valid usage: both lists have as many elements as `info` says.
                let (semaphores, values) = unsafe {
                    (
                        elements(waited.p_semaphores, waited.semaphore_count),
                        elements(waited.p_values, waited.semaphore_count),
                    )
                };
                let signals = semaphores.iter().zip(values);
                WaitMark::of_signals(
                    device,
                    signals.map(|(semaphore, value)| Signal::Timeline(*semaphore, *value)),
                )
            }
        };
        let result = wait::sliced(device, timeout, |timeout| {
            // SAFETY: the application's own arguments, except for the timeout.
            unsafe { next(handle, info, timeout) }
        });
        mark.complete_without_abort(device, result)
    })
}
