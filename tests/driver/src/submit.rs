//! Commands of `VkQueue`: conversion of API structures to submissions.

use crate::command::{CommandBuffer, Op};
use crate::enumerate::{chained, slice};
use crate::handle;
use crate::queue::{Batch, Queue, Submission, wait_for_queues};
use ash::vk::{self, Handle};

/// Commands of live command buffers.
fn ops(buffers: impl Iterator<Item = vk::CommandBuffer>) -> Vec<Op> {
    buffers
        // SAFETY: by the commands' valid usage, the command buffers are live.
        .filter_map(|buffer| unsafe { handle::get::<CommandBuffer>(buffer.as_raw()) })
        .flat_map(CommandBuffer::ops)
        .collect()
}

/// Commands whose writes to unprotected memory are discarded if the submission is protected (`protectedNoFault`).
fn without_writes(is_protected: bool, mut ops: Vec<Op>) -> Vec<Op> {
    ops.retain(|op| !is_protected || !matches!(op, Op::Run(_)));
    ops
}

/// Pairs semaphores with values. Missing values are 0.
fn paired(semaphores: &[vk::Semaphore], values: &[u64]) -> Vec<(u64, u64)> {
    let values = values.iter().copied().chain(std::iter::repeat(0));
    semaphores
        .iter()
        .map(|semaphore| semaphore.as_raw())
        .zip(values)
        .collect()
}

fn submit_batches(queue: &Queue, batches: impl Iterator<Item = Batch>, fence: u64) -> vk::Result {
    queue.submit(Submission {
        batches: batches.collect(),
        fence,
        ..Submission::default()
    })
}

pub extern "system" fn submit(queue: &Queue, count: u32, submits: *const vk::SubmitInfo<'_>, fence: u64) -> vk::Result {
    let batch = |info: &vk::SubmitInfo<'_>| {
        let none = vk::TimelineSemaphoreSubmitInfo::default();
        // SAFETY: by the command's valid usage, the chain is valid, and arrays have as many elements as their counts.
        unsafe {
            let timeline = chained(info).unwrap_or(&none);
            let wait_values = slice(timeline.p_wait_semaphore_values, timeline.wait_semaphore_value_count);
            let signal_values = slice(
                timeline.p_signal_semaphore_values,
                timeline.signal_semaphore_value_count,
            );
            Batch {
                waits: paired(slice(info.p_wait_semaphores, info.wait_semaphore_count), wait_values),
                ops: without_writes(
                    chained::<vk::ProtectedSubmitInfo<'_>>(info).is_some_and(|info| info.protected_submit == vk::TRUE),
                    ops(slice(info.p_command_buffers, info.command_buffer_count).iter().copied()),
                ),
                signals: paired(
                    slice(info.p_signal_semaphores, info.signal_semaphore_count),
                    signal_values,
                ),
            }
        }
    };
    // SAFETY: by the command's valid usage, the array has `count` elements.
    submit_batches(queue, unsafe { slice(submits, count) }.iter().map(batch), fence)
}

pub extern "system" fn submit2(
    queue: &Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: u64,
) -> vk::Result {
    let with = |infos: &[vk::SemaphoreSubmitInfo<'_>]| {
        infos.iter().map(|info| (info.semaphore.as_raw(), info.value)).collect()
    };
    // SAFETY: by the command's valid usage, arrays have as many elements as their counts.
    let batch = |info: &vk::SubmitInfo2<'_>| unsafe {
        Batch {
            waits: with(slice(info.p_wait_semaphore_infos, info.wait_semaphore_info_count)),
            ops: ops(slice(info.p_command_buffer_infos, info.command_buffer_info_count)
                .iter()
                .map(|info| info.command_buffer)),
            signals: with(slice(info.p_signal_semaphore_infos, info.signal_semaphore_info_count)),
        }
    };
    // SAFETY: by the command's valid usage, the array has `count` elements.
    submit_batches(queue, unsafe { slice(submits, count) }.iter().map(batch), fence)
}

pub extern "system" fn bind_sparse(
    queue: &Queue,
    count: u32,
    infos: *const vk::BindSparseInfo<'_>,
    fence: u64,
) -> vk::Result {
    // SAFETY: by the command's valid usage, arrays have as many elements as their counts.
    let batch = |info: &vk::BindSparseInfo<'_>| unsafe {
        Batch {
            waits: paired(slice(info.p_wait_semaphores, info.wait_semaphore_count), &[]),
            ops: Vec::new(),
            signals: paired(slice(info.p_signal_semaphores, info.signal_semaphore_count), &[]),
        }
    };
    // SAFETY: by the command's valid usage, the array has `count` elements.
    submit_batches(queue, unsafe { slice(infos, count) }.iter().map(batch), fence)
}

/// Runs `then` under the device's lock and wakes waiting threads, unless the device is lost.
pub fn signal_from(queue: &Queue, then: impl FnOnce()) -> vk::Result {
    let device = queue.device();
    let state = device.lock();
    if device.shows_loss(&state) {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    then();
    device.changed.notify_all();
    vk::Result::SUCCESS
}

pub extern "system" fn checkpoints(queue: &Queue, count: &mut u32, data: *mut vk::CheckpointDataNV<'_>) {
    queue.checkpoints.get(count, data);
}

pub extern "system" fn wait_idle(queue: &Queue) -> vk::Result {
    wait_for_queues(queue.device(), Some(queue))
}
