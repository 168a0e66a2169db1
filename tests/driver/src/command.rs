//! Command pools and command buffers. Only what later shows is remembered: which pipelines run, events and queries.

use crate::handle::{self, LOADER_MAGIC};
use ash::vk::{self, Handle};
use std::sync::{Mutex, PoisonError};

/// What a command buffer does, as far as this driver does it.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// A pipeline runs.
    Run(u64),
    /// An event is set, or reset.
    SetEvent(u64, bool),
    /// So many queries of a pool, from a first one on, become available, or not.
    SetQueries(u64, u32, u32, bool),
}

#[derive(Default)]
struct Recorded {
    ops: Vec<Op>,
    /// The last pipeline that was bound.
    bound: u64,
}

/// A command buffer.
#[repr(C)]
pub struct CommandBuffer {
    loader: usize,
    recorded: Mutex<Recorded>,
}

impl CommandBuffer {
    /// What it does.
    pub fn ops(&self) -> Vec<Op> {
        debug_assert!(self.loader != 0);
        let recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.ops.clone()
    }
}

/// The buffers of a pool, which go with it.
#[derive(Default)]
struct Pool(Mutex<Vec<u64>>);

/// # Safety
/// The handle must be valid.
unsafe fn record(buffer: vk::CommandBuffer, what: impl FnOnce(&mut Recorded)) {
    // SAFETY: the caller vouches for the handle.
    if let Some(buffer) = unsafe { handle::get::<CommandBuffer>(buffer.as_raw()) } {
        what(&mut buffer.recorded.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

pub unsafe extern "system" fn create_pool(
    _: vk::Device,
    _: *const vk::CommandPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::CommandPool,
) -> vk::Result {
    // SAFETY: valid by the API's rules.
    unsafe { pool.write(vk::CommandPool::from_raw(handle::make(Pool::default()))) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_pool(
    _: vk::Device,
    pool: vk::CommandPool,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the application's last use of the pool and its buffers.
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
    // SAFETY: as the API has it.
    unsafe {
        if let Some(pool) = handle::get::<Pool>(pool.as_raw()) {
            for buffer in pool.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                record(vk::CommandBuffer::from_raw(*buffer), |recorded| {
                    *recorded = Recorded::default()
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
    // SAFETY: as the API has it: an array of as many elements as are asked for.
    unsafe {
        let Some(pool) = handle::get::<Pool>((*info).command_pool.as_raw()) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        for index in 0..(*info).command_buffer_count as usize {
            let made = handle::make(CommandBuffer {
                loader: LOADER_MAGIC,
                recorded: Mutex::default(),
            });
            pool.0.lock().unwrap_or_else(PoisonError::into_inner).push(made);
            buffers.add(index).write(vk::CommandBuffer::from_raw(made));
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
    // SAFETY: the application's last use of the buffers.
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
    // SAFETY: as the API has it.
    unsafe { record(buffer, |recorded| *recorded = Recorded::default()) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn end(_: vk::CommandBuffer) -> vk::Result {
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn reset(buffer: vk::CommandBuffer, _: vk::CommandBufferResetFlags) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe { begin(buffer, std::ptr::null()) }
}

pub unsafe extern "system" fn bind_pipeline(
    buffer: vk::CommandBuffer,
    _: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    // SAFETY: as the API has it.
    unsafe { record(buffer, |recorded| recorded.bound = pipeline.as_raw()) };
}

/// Any command that runs the pipeline that is bound: what else it says does not matter.
pub unsafe extern "system" fn run(buffer: vk::CommandBuffer) {
    // SAFETY: as the API has it.
    unsafe { record(buffer, |recorded| recorded.ops.push(Op::Run(recorded.bound))) };
}

pub unsafe extern "system" fn set_event(buffer: vk::CommandBuffer, event: vk::Event, _: vk::PipelineStageFlags) {
    // SAFETY: as the API has it.
    unsafe { record(buffer, |recorded| recorded.ops.push(Op::SetEvent(event.as_raw(), true))) };
}

pub unsafe extern "system" fn reset_event(buffer: vk::CommandBuffer, event: vk::Event, _: vk::PipelineStageFlags) {
    // SAFETY: as the API has it.
    unsafe {
        record(buffer, |recorded| {
            recorded.ops.push(Op::SetEvent(event.as_raw(), false))
        })
    };
}

pub unsafe extern "system" fn reset_queries(buffer: vk::CommandBuffer, pool: vk::QueryPool, first: u32, count: u32) {
    // SAFETY: as the API has it.
    unsafe {
        record(buffer, |r| {
            r.ops.push(Op::SetQueries(pool.as_raw(), first, count, false))
        })
    };
}

pub unsafe extern "system" fn end_query(buffer: vk::CommandBuffer, pool: vk::QueryPool, query: u32) {
    // SAFETY: as the API has it.
    unsafe { record(buffer, |r| r.ops.push(Op::SetQueries(pool.as_raw(), query, 1, true))) };
}

pub unsafe extern "system" fn write_timestamp(
    buffer: vk::CommandBuffer,
    _: vk::PipelineStageFlags,
    pool: vk::QueryPool,
    query: u32,
) {
    // SAFETY: as the API has it.
    unsafe { end_query(buffer, pool, query) }
}

/// Any other command.
pub unsafe extern "system" fn nothing() {}
