//! Command pools and command buffers. Records only pipelines, events and queries, which have visible effects.

use crate::handle::{self, LOADER_MAGIC};
use ash::vk::{self, Handle};
use std::sync::{Mutex, PoisonError};

/// A recorded command with a visible effect.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Runs a pipeline.
    Run(u64),
    /// Sets (true) or resets an event.
    SetEvent(u64, bool),
    /// Makes queries available (true) or unavailable: pool, first query, count.
    SetQueries(u64, u32, u32, bool),
}

#[derive(Default)]
struct Recording {
    ops: Vec<Op>,
    /// The bound pipeline.
    bound: u64,
}

/// A command buffer.
#[repr(C)]
pub struct CommandBuffer {
    loader: usize,
    recording: Mutex<Recording>,
}

impl CommandBuffer {
    /// Recorded commands.
    pub fn ops(&self) -> Vec<Op> {
        debug_assert!(self.loader != 0);
        let recording = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        recording.ops.clone()
    }
}

/// A pool's command buffers, which are freed with it.
#[derive(Default)]
struct Pool(Mutex<Vec<u64>>);

/// # Safety
/// `buffer` must be null or a live command buffer.
unsafe fn record(buffer: vk::CommandBuffer, edit: impl FnOnce(&mut Recording)) {
    // SAFETY: the caller passes a live command buffer.
    if let Some(buffer) = unsafe { handle::get::<CommandBuffer>(buffer.as_raw()) } {
        edit(&mut buffer.recording.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

pub unsafe extern "system" fn create_pool(
    _: vk::Device,
    _: *const vk::CommandPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::CommandPool,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { pool.write(vk::CommandPool::from_raw(handle::create(Pool::default()))) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_pool(
    _: vk::Device,
    pool: vk::CommandPool,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, the pool and its buffers are not used afterwards.
    unsafe {
        if let Some(pool) = handle::take::<Pool>(pool.as_raw()) {
            for buffer in pool.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
                handle::destroy::<CommandBuffer>(buffer);
            }
        }
    }
}

pub unsafe extern "system" fn reset_pool(
    _: vk::Device,
    pool: vk::CommandPool,
    _: vk::CommandPoolResetFlags,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        if let Some(pool) = handle::get::<Pool>(pool.as_raw()) {
            for buffer in pool.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                record(vk::CommandBuffer::from_raw(*buffer), |recording| {
                    *recording = Recording::default()
                });
            }
        }
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn allocate(
    _: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    buffers: *mut vk::CommandBuffer,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the array has as many elements as the info requests.
    unsafe {
        let Some(pool) = handle::get::<Pool>((*info).command_pool.as_raw()) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        for index in 0..(*info).command_buffer_count as usize {
            let buffer = handle::create(CommandBuffer {
                loader: LOADER_MAGIC,
                recording: Mutex::default(),
            });
            pool.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
            buffers.add(index).write(vk::CommandBuffer::from_raw(buffer));
        }
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn free(
    _: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    // SAFETY: by the command's valid usage, the buffers are not used afterwards.
    unsafe {
        let Some(pool) = handle::get::<Pool>(pool.as_raw()) else {
            return;
        };
        for buffer in std::slice::from_raw_parts(buffers, count as usize) {
            let mut live = pool.0.lock().unwrap_or_else(PoisonError::into_inner);
            if live.contains(&buffer.as_raw()) {
                live.retain(|other| *other != buffer.as_raw());
                handle::destroy::<CommandBuffer>(buffer.as_raw());
            }
        }
    }
}

pub unsafe extern "system" fn begin(buffer: vk::CommandBuffer, _: *const vk::CommandBufferBeginInfo<'_>) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { record(buffer, |recording| *recording = Recording::default()) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn end(_: vk::CommandBuffer) -> vk::Result {
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn reset(buffer: vk::CommandBuffer, _: vk::CommandBufferResetFlags) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { begin(buffer, std::ptr::null()) }
}

pub unsafe extern "system" fn bind_pipeline(
    buffer: vk::CommandBuffer,
    _: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { record(buffer, |recording| recording.bound = pipeline.as_raw()) };
}

/// Any command that runs the bound pipeline. Further arguments are ignored.
pub unsafe extern "system" fn run(buffer: vk::CommandBuffer) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { record(buffer, |recording| recording.ops.push(Op::Run(recording.bound))) };
}

pub unsafe extern "system" fn set_event(buffer: vk::CommandBuffer, event: vk::Event, _: vk::PipelineStageFlags) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        record(buffer, |recording| {
            recording.ops.push(Op::SetEvent(event.as_raw(), true))
        })
    };
}

pub unsafe extern "system" fn reset_event(buffer: vk::CommandBuffer, event: vk::Event, _: vk::PipelineStageFlags) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        record(buffer, |recording| {
            recording.ops.push(Op::SetEvent(event.as_raw(), false))
        })
    };
}

pub unsafe extern "system" fn reset_queries(buffer: vk::CommandBuffer, pool: vk::QueryPool, first: u32, count: u32) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        record(buffer, |r| {
            r.ops.push(Op::SetQueries(pool.as_raw(), first, count, false))
        })
    };
}

pub unsafe extern "system" fn end_query(buffer: vk::CommandBuffer, pool: vk::QueryPool, query: u32) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { record(buffer, |r| r.ops.push(Op::SetQueries(pool.as_raw(), query, 1, true))) };
}

pub unsafe extern "system" fn write_timestamp(
    buffer: vk::CommandBuffer,
    _: vk::PipelineStageFlags,
    pool: vk::QueryPool,
    query: u32,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { end_query(buffer, pool, query) }
}

/// Any command without a visible effect. Ignores its arguments, which the caller cleans up in this calling convention.
pub unsafe extern "system" fn no_op() {}
