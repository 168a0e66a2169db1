//! The commands of `VkQueue`: from the API's structures to submissions.

use crate::command::{CommandBuffer, Op};
use crate::device::known;
use crate::handle;
use crate::queue::{Batch, Queue, Submission};
use ash::vk::{self, Handle, TaggedStructure};

/// The queue behind a handle.
///
/// # Safety
/// The handle must be valid.
unsafe fn queue_of<'a>(queue: vk::Queue) -> &'a Queue {
    // SAFETY: the caller vouches for the handle.
    unsafe { handle::get(queue.as_raw()) }.expect("a queue")
}

/// # Safety
/// The pointer must be null or to so many elements.
unsafe fn slice<'a, T>(list: *const T, count: u32) -> &'a [T] {
    match list.is_null() || count == 0 {
        true => &[],
        // SAFETY: the caller vouches for the array.
        false => unsafe { std::slice::from_raw_parts(list, count as usize) },
    }
}

/// # Safety
/// The command buffers must be valid.
unsafe fn ops(buffers: impl Iterator<Item = vk::CommandBuffer>) -> Vec<Op> {
    buffers
        // SAFETY: the caller vouches for them.
        .filter_map(|buffer| unsafe { handle::get::<CommandBuffer>(buffer.as_raw()) })
        .flat_map(CommandBuffer::ops)
        .collect()
}

pub unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: as the API has it; the type says what the node of the chain is.
    unsafe {
        let batch = |info: &vk::SubmitInfo<'_>| {
            let mut node = info.p_next.cast::<vk::BaseInStructure<'_>>();
            let mut values: (&[u64], &[u64]) = (&[], &[]);
            while let Some(base) = node.as_ref() {
                if base.s_type == vk::TimelineSemaphoreSubmitInfo::STRUCTURE_TYPE {
                    let info = &*node.cast::<vk::TimelineSemaphoreSubmitInfo<'_>>();
                    values = (
                        slice(info.p_wait_semaphore_values, info.wait_semaphore_value_count),
                        slice(info.p_signal_semaphore_values, info.signal_semaphore_value_count),
                    );
                }
                node = base.p_next;
            }
            let with = |semaphores: &[vk::Semaphore], values: &[u64]| {
                let value = |at| values.get(at).copied().unwrap_or(0);
                semaphores
                    .iter()
                    .enumerate()
                    .map(|(at, s)| (s.as_raw(), value(at)))
                    .collect()
            };
            Batch {
                waits: with(slice(info.p_wait_semaphores, info.wait_semaphore_count), values.0),
                ops: ops(slice(info.p_command_buffers, info.command_buffer_count).iter().copied()),
                signals: with(slice(info.p_signal_semaphores, info.signal_semaphore_count), values.1),
            }
        };
        queue_of(queue).submit(Submission {
            batches: slice(submits, count).iter().map(batch).collect(),
            fence: fence.as_raw(),
            ..Submission::default()
        })
    }
}

pub unsafe extern "system" fn submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let with = |infos: &[vk::SemaphoreSubmitInfo<'_>]| {
            infos.iter().map(|info| (info.semaphore.as_raw(), info.value)).collect()
        };
        let batch = |info: &vk::SubmitInfo2<'_>| Batch {
            waits: with(slice(info.p_wait_semaphore_infos, info.wait_semaphore_info_count)),
            ops: ops(slice(info.p_command_buffer_infos, info.command_buffer_info_count)
                .iter()
                .map(|info| info.command_buffer)),
            signals: with(slice(info.p_signal_semaphore_infos, info.signal_semaphore_info_count)),
        };
        queue_of(queue).submit(Submission {
            batches: slice(submits, count).iter().map(batch).collect(),
            fence: fence.as_raw(),
            ..Submission::default()
        })
    }
}

pub unsafe extern "system" fn bind_sparse(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let with = |semaphores: &[vk::Semaphore]| semaphores.iter().map(|s| (s.as_raw(), 0)).collect();
        let batch = |info: &vk::BindSparseInfo<'_>| Batch {
            waits: with(slice(info.p_wait_semaphores, info.wait_semaphore_count)),
            ops: Vec::new(),
            signals: with(slice(info.p_signal_semaphores, info.signal_semaphore_count)),
        };
        queue_of(queue).submit(Submission {
            batches: slice(infos, count).iter().map(batch).collect(),
            fence: fence.as_raw(),
            ..Submission::default()
        })
    }
}

/// Presents: waits for nothing, shows nothing, frees the images.
///
/// # Safety
/// As the API has it.
pub unsafe fn signal_from(queue: vk::Queue, then: impl FnOnce()) -> vk::Result {
    // SAFETY: as the API has it.
    let device = unsafe { known(queue_of(queue).device) };
    let state = device.lock();
    if device.shows_loss(&state) {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    then();
    device.changed.notify_all();
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn wait_idle(queue: vk::Queue) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let queue = queue_of(queue);
        known(queue.device).wait_for_queues(Some(queue))
    }
}
