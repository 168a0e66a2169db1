//! Commands of `VkQueue`: conversion of API structures to submissions.

use crate::command::{CommandBuffer, Op};
use crate::handle;
use crate::queue::{Batch, Queue, Submission, wait_for_queues};
use crate::state::device_of;
use ash::vk::{self, Handle, TaggedStructure};

/// Queue behind a handle.
///
/// # Safety
/// `queue` must be a live queue.
unsafe fn queue_of<'a>(queue: vk::Queue) -> &'a Queue {
    // SAFETY: the caller passes a live queue.
    unsafe { handle::get(queue.as_raw()) }.expect("a live queue")
}

/// # Safety
/// `list` must be null or point to `count` elements.
unsafe fn slice<'a, T>(list: *const T, count: u32) -> &'a [T] {
    match list.is_null() || count == 0 {
        true => &[],
        // SAFETY: the caller passes `count` elements.
        false => unsafe { std::slice::from_raw_parts(list, count as usize) },
    }
}

/// # Safety
/// The command buffers must be live.
unsafe fn ops(buffers: impl Iterator<Item = vk::CommandBuffer>) -> Vec<Op> {
    buffers
        // SAFETY: the caller passes live command buffers.
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
    // SAFETY: by the command's valid usage, pointers are valid and `sType` gives the type of each chained structure.
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
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

/// Runs `then` under the device's lock and wakes waiting threads, unless the device is lost.
///
/// # Safety
/// `queue` must be a live queue.
pub unsafe fn signal_from(queue: vk::Queue, then: impl FnOnce()) -> vk::Result {
    // SAFETY: the caller passes a live queue, whose device outlives it.
    let device = unsafe { device_of(queue_of(queue).device) };
    let state = device.lock();
    if device.shows_loss(&state) {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    then();
    device.changed.notify_all();
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn wait_idle(queue: vk::Queue) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let queue = queue_of(queue);
        wait_for_queues(device_of(queue.device), Some(queue))
    }
}
