//! Command pools and command buffers. Records only pipelines, events and queries, which have visible effects.

use crate::call_log;
use crate::enumerate::slice;
use crate::handle::{self, LOADER_MAGIC, Object};
use crate::object;
use crate::state::Device;
use ash::vk::{self, Handle};
use parking_lot::Mutex;

/// A recorded command with a visible effect.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Runs a pipeline or a shader object.
    Run(u64),
    /// Sets (true) or resets an event.
    SetEvent(u64, bool),
    /// Makes queries available (true) or unavailable: pool, first query, count.
    SetQueries(u64, u32, u32, bool),
    /// Writes a marker to the word at this host address, behind the commands before it (true) or as soon as they have begun.
    WriteMarker(u64, u32, bool),
    /// Sets a checkpoint.
    Checkpoint(u64),
}

#[derive(Default)]
struct Recording {
    ops: Vec<Op>,
    /// The bound pipeline, or shader objects.
    bound: Vec<u64>,
}

/// A command buffer.
#[repr(C)]
pub struct CommandBuffer {
    _loader: usize,
    recording: Mutex<Recording>,
}

impl CommandBuffer {
    /// Recorded commands.
    pub fn ops(&self) -> Vec<Op> {
        self.recording.lock().ops.clone()
    }

    /// Records a command.
    pub fn push(&self, op: Op) {
        self.recording.lock().ops.push(op);
    }
}

/// A pool's command buffers, which are freed with it.
#[derive(Default)]
pub struct Pool(Mutex<Vec<u64>>);

impl Drop for Pool {
    fn drop(&mut self) {
        for buffer in self.0.lock().drain(..) {
            // SAFETY: by the valid usage of `vkDestroyCommandPool`, the pool's buffers are not used afterwards.
            drop(unsafe { handle::take::<CommandBuffer>(buffer) });
        }
    }
}

pub extern "system" fn reset_pool(_: &Device, pool: Object<'_, Pool>, _: vk::CommandPoolResetFlags) -> vk::Result {
    for buffer in pool.0.lock().iter() {
        // SAFETY: the buffers of a pool are live.
        if let Some(buffer) = unsafe { handle::get::<CommandBuffer>(*buffer) } {
            *buffer.recording.lock() = Recording::default();
        }
    }
    vk::Result::SUCCESS
}

pub extern "system" fn allocate(
    _: &Device,
    info: &vk::CommandBufferAllocateInfo<'_>,
    buffers: *mut vk::CommandBuffer,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the pool is live.
    let Some(pool) = (unsafe { handle::get::<Pool>(info.command_pool.as_raw()) }) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    for index in 0..info.command_buffer_count as usize {
        let buffer = handle::create(CommandBuffer {
            _loader: LOADER_MAGIC,
            recording: Mutex::default(),
        });
        pool.0.lock().push(buffer);
        // SAFETY: by the command's valid usage, the array has as many elements as the info requests.
        unsafe { buffers.add(index).write(vk::CommandBuffer::from_raw(buffer)) };
    }
    vk::Result::SUCCESS
}

pub extern "system" fn free(device: &Device, pool: Object<'_, Pool>, count: u32, buffers: *const vk::CommandBuffer) {
    // SAFETY: by the command's valid usage, the array has `count` elements.
    for buffer in unsafe { slice(buffers, count) } {
        let mut live = pool.0.lock();
        if live.contains(&buffer.as_raw()) {
            live.retain(|other| *other != buffer.as_raw());
            object::destroy::<CommandBuffer>(device, buffer.as_raw(), None);
        }
    }
}

/// `vkBeginCommandBuffer` and `vkResetCommandBuffer`.
pub extern "system" fn reset(buffer: &CommandBuffer) -> vk::Result {
    call_log::command_buffer_reset();
    *buffer.recording.lock() = Recording::default();
    vk::Result::SUCCESS
}

pub extern "system" fn bind_pipeline(buffer: &CommandBuffer, _: vk::PipelineBindPoint, pipeline: u64) {
    buffer.recording.lock().bound = vec![pipeline];
}

/// Shaders of other stages stay bound in a real driver; here one call binds all of a draw.
pub extern "system" fn bind_shaders(
    buffer: &CommandBuffer,
    count: u32,
    _: *const vk::ShaderStageFlags,
    shaders: *const u64,
) {
    // SAFETY: by the command's valid usage, the array is null or has `count` elements.
    buffer.recording.lock().bound = unsafe { slice(shaders, count) }.to_vec();
}

/// Any command that runs the bound pipeline or shader objects. Further arguments are ignored.
pub extern "system" fn run(buffer: &CommandBuffer) {
    let mut recording = buffer.recording.lock();
    let Recording { ops, bound } = &mut *recording;
    ops.extend(bound.iter().copied().map(Op::Run));
}

/// `vkCmdSetEvent` and `vkCmdResetEvent`.
pub extern "system" fn set_event<const SET: bool>(buffer: &CommandBuffer, event: u64, _: vk::PipelineStageFlags) {
    buffer.push(Op::SetEvent(event, SET));
}

pub extern "system" fn reset_queries(buffer: &CommandBuffer, pool: u64, first: u32, count: u32) {
    buffer.push(Op::SetQueries(pool, first, count, false));
}

pub extern "system" fn end_query(buffer: &CommandBuffer, pool: u64, query: u32) {
    buffer.push(Op::SetQueries(pool, query, 1, true));
}

pub extern "system" fn write_timestamp(buffer: &CommandBuffer, _: vk::PipelineStageFlags, pool: u64, query: u32) {
    end_query(buffer, pool, query);
}

/// Any command without a visible effect. Ignores its arguments, which the caller cleans up in this calling convention.
pub extern "system" fn no_op() {}
