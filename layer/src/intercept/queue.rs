//! `VkQueue`.

use super::wait;
use crate::device::Device;
use crate::device::state::{QueueLocation, Signal};
use crate::device_loss::{DrainBudget, WaitMark};
use crate::loader::chain;
use crate::loader::ffi::elements;
use ash::vk::{self, Handle as _};
use std::ffi::c_void;

/// Forwards, and notes the queue's family for reports.
pub unsafe extern "system" fn get(handle: vk::Device, family: u32, index: u32, queue: *mut vk::Queue) {
    // SAFETY: valid usage: the device is live, and `queue` may be written.
    unsafe {
        forward!(handle, vkGetDeviceQueue, |device, next| {
            next(handle, family, index, queue);
            set_location(device, *queue, QueueLocation { family, index });
        });
    }
}

/// As [`get`], also for queues that are created with flags.
pub unsafe extern "system" fn get2(handle: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, queue: *mut vk::Queue) {
    // SAFETY: valid usage: the device is live, `info` valid, and `queue` may be written.
    unsafe {
        forward!(handle, vkGetDeviceQueue2, |device, next| {
            next(handle, info, queue);
            let (family, index) = ((*info).queue_family_index, (*info).queue_index);
            set_location(device, *queue, QueueLocation { family, index });
        });
    }
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

/// A structure that submits work to a queue.
pub trait Submit {
    /// Its signals wait for the commands of earlier submissions too.
    const SIGNALS_BEHIND_COMMANDS: bool = true;

    /// Number of its command buffers.
    fn count(&self) -> u32;

    /// One of its command buffers.
    ///
    /// # Safety
    /// The structure must be valid, and `index` less than their number.
    unsafe fn command_buffer(&self, index: u32) -> vk::CommandBuffer;

    /// Calls `each` with the semaphores that it signals behind all of its work, and their values. Those of binary semaphores mean
    /// nothing.
    ///
    /// # Safety
    /// The structure must be valid.
    unsafe fn for_each_signal(&self, each: impl FnMut(vk::Semaphore, u64));
}

/// Calls `each` with semaphores and the values in a chain.
///
/// # Safety
/// The chain must be valid.
unsafe fn for_each_timeline(
    chain: *const c_void,
    semaphores: &[vk::Semaphore],
    mut each: impl FnMut(vk::Semaphore, u64),
) {
    // SAFETY: the chain is valid (the caller's contract).
    unsafe {
        if let Some(timeline) = chain::find::<vk::TimelineSemaphoreSubmitInfo<'_>>(chain) {
            let values = elements(
                timeline.p_signal_semaphore_values,
                timeline.signal_semaphore_value_count,
            );
            let signals = semaphores.iter().zip(values);
            signals.for_each(|(semaphore, value)| each(*semaphore, *value));
        }
    }
}

impl Submit for vk::SubmitInfo<'_> {
    fn count(&self) -> u32 {
        self.command_buffer_count
    }

    unsafe fn command_buffer(&self, index: u32) -> vk::CommandBuffer {
        // SAFETY: the list has the element (the caller's contract).
        unsafe { *self.p_command_buffers.add(index as usize) }
    }

    unsafe fn for_each_signal(&self, each: impl FnMut(vk::Semaphore, u64)) {
        // SAFETY: the structure and its chain are valid (the caller's contract).
        unsafe {
            let semaphores = elements(self.p_signal_semaphores, self.signal_semaphore_count);
            for_each_timeline(self.p_next, semaphores, each);
        }
    }
}

impl Submit for vk::SubmitInfo2<'_> {
    fn count(&self) -> u32 {
        self.command_buffer_info_count
    }

    unsafe fn command_buffer(&self, index: u32) -> vk::CommandBuffer {
        // SAFETY: the list has the element (the caller's contract).
        unsafe { (*self.p_command_buffer_infos.add(index as usize)).command_buffer }
    }

    unsafe fn for_each_signal(&self, mut each: impl FnMut(vk::Semaphore, u64)) {
        // SAFETY: the structure is valid (the caller's contract).
        let signals = unsafe { elements(self.p_signal_semaphore_infos, self.signal_semaphore_info_count) };
        // Behind single stages, a signal does not wait for the shaders of others.
        let all = vk::PipelineStageFlags2::ALL_COMMANDS | vk::PipelineStageFlags2::BOTTOM_OF_PIPE;
        let behind_all = signals.iter().filter(|info| info.stage_mask.intersects(all));
        behind_all.for_each(|info| each(info.semaphore, info.value));
    }
}

impl Submit for vk::BindSparseInfo<'_> {
    const SIGNALS_BEHIND_COMMANDS: bool = false;

    fn count(&self) -> u32 {
        0
    }

    unsafe fn command_buffer(&self, _: u32) -> vk::CommandBuffer {
        vk::CommandBuffer::null()
    }

    unsafe fn for_each_signal(&self, each: impl FnMut(vk::Semaphore, u64)) {
        // SAFETY: the structure and its chain are valid (the caller's contract).
        unsafe {
            let semaphores = elements(self.p_signal_semaphores, self.signal_semaphore_count);
            for_each_timeline(self.p_next, semaphores, each);
        }
    }
}

/// Notes a submission and the signals at its end, for reports.
///
/// # Safety
/// `submits` must be valid.
pub unsafe fn note_submission<T: Submit>(device: &Device, queue: vk::Queue, submits: &[T], fence: vk::Fence) {
    let Some(state) = &device.state else {
        return;
    };
    let log = &device.instance.log;
    if let Some(addresses) = &state.addresses {
        addresses.publish(|| state.queues.values(), log);
    }
    if let Some(first) = submits.iter().find(|submit| submit.count() > 0) {
        let total: u64 = submits.iter().map(|submit| u64::from(submit.count())).sum();
        let only = match total {
            // SAFETY: the structure is valid (the caller's contract) and has a command buffer.
            1 => unsafe { first.command_buffer(0) }.as_raw(),
            _ => 0,
        };
        if let Some(commands) = &state.commands
            && let Some(queue) = state.queue(device, queue)
        {
            let buffers = submits.iter().flat_map(|submit| {
                // SAFETY: the structure is valid (the caller's contract), and the index less than the number.
                (0..submit.count()).map(move |index| unsafe { submit.command_buffer(index) })
            });
            // SAFETY: the command buffers are live, and not being recorded (the caller's contract).
            unsafe { commands.note_submission(queue, buffers) };
        }
        state.count_submission(device, queue, only);
        if let Some(clock) = &state.loop_clock {
            clock.start(|| state.queues.share(queue.as_raw() as usize), log);
        }
    }
    let note = |signal| match T::SIGNALS_BEHIND_COMMANDS {
        true => state.note_signal(device, queue, signal),
        false => state.signals.note_behind_signals(signal, queue),
    };
    if fence != vk::Fence::null() {
        note(Signal::Fence(fence));
    }
    if let Some(last) = submits.last() {
        // SAFETY: the structure is valid (the caller's contract).
        unsafe {
            last.for_each_signal(|semaphore, value| {
                // No submission is behind the value that timeline semaphores begin with, or behind that of most binary ones.
                if value != 0 {
                    note(Signal::Timeline(semaphore, value));
                }
            });
        }
    }
}

/// Waits by a fence first, in slices: the driver's own wait cannot be interrupted, and does not end while a shader hangs.
/// The driver's wait then ends soon; it also covers operations without a fence, such as presentation.
pub unsafe extern "system" fn wait_idle(handle: vk::Queue) -> vk::Result {
    // SAFETY: valid usage: the queue is live, and externally synchronised.
    unsafe {
        forward!(handle, vkQueueWaitIdle, |device, next| {
            let next = || next(handle);
            let Some(state) = &device.state else {
                return next();
            };
            let mark = WaitMark::new(state.queue(device, handle));
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
}

/// As the policy `queue`. A loss is the result of every swapchain, too.
pub unsafe extern "system" fn present(handle: vk::Queue, info: *const vk::PresentInfoKHR<'_>) -> vk::Result {
    // SAFETY: valid usage: the queue is live, `info` valid, and `pResults` null or as long as the list of swapchains. The queue's
    // lock keeps drains from using it.
    unsafe {
        forward!(handle, vkQueuePresentKHR, |device, next| {
            let result = device.on_queue(handle, || next(handle, info));
            if result == vk::Result::ERROR_DEVICE_LOST
                && let Some(info) = info.as_ref().filter(|info| !info.p_results.is_null())
            {
                for index in 0..info.swapchain_count as usize {
                    info.p_results.add(index).write(result);
                }
            }
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intercept::testing::TestDevice;
    use crate::loader::dispatch::DeviceTable;

    #[test]
    fn signals_of_sparse_bindings_cover_what_earlier_signals_cover() {
        let device = TestDevice::new(DeviceTable::EMPTY);
        let [queue, other] = [16, 32].map(vk::Queue::from_raw);
        let fences: [vk::Fence; 4] = [1, 2, 3, 4].map(vk::Fence::from_raw);
        let buffers = [vk::CommandBuffer::null()];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        let (semaphores, values) = ([vk::Semaphore::from_raw(7)], [5]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
        let bind = [vk::BindSparseInfo::default()
            .signal_semaphores(&semaphores)
            .push_next(&mut timeline)];
        // SAFETY: the structures are valid.
        unsafe {
            note_submission(device.get(), queue, &submit, vk::Fence::null());
            note_submission(device.get(), queue, &bind, fences[0]);
            note_submission(device.get(), queue, &submit, fences[1]);
            note_submission(device.get(), queue, &submit, vk::Fence::null());
            note_submission(device.get(), other, &submit, fences[2]);
            note_submission(device.get(), queue, &bind, fences[3]);
        }
        let covered = |signal| device.state().signals.covered([signal].into_iter());
        assert_eq!(covered(Signal::Fence(fences[0])), [], "no signal precedes it");
        let of_submit = covered(Signal::Fence(fences[1]));
        assert_eq!(of_submit, [(queue, 2)]);
        // The third submission has no signal that the bindings wait for.
        assert_eq!(covered(Signal::Fence(fences[3])), of_submit);
        assert_eq!(covered(Signal::Timeline(semaphores[0], 5)), of_submit);
    }
}
