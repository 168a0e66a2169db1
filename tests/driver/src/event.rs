//! Events and query pools.

use crate::command::Op;
use crate::handle;
use crate::state::device_of;
use ash::vk::{self, Handle};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// An event.
struct Event(AtomicBool);

/// A query pool: the availability of each query. All values are 1.
struct Queries(Vec<AtomicBool>);

/// Executes a command on an event or on queries.
///
/// # Safety
/// The objects must be live.
pub unsafe fn execute(op: &Op) {
    // SAFETY: the caller passes live objects.
    unsafe {
        match *op {
            Op::SetEvent(event, set) => {
                if let Some(event) = handle::get::<Event>(event) {
                    event.0.store(set, Ordering::Release);
                }
            }
            Op::SetQueries(pool, first, count, available) => {
                let queries = handle::get::<Queries>(pool).map(|pool| &pool.0);
                let queries = queries.into_iter().flatten().skip(first as usize).take(count as usize);
                queries.for_each(|query| query.store(available, Ordering::Release));
            }
            Op::Run(_) => {}
        }
    }
}

pub unsafe extern "system" fn create_event(
    _: vk::Device,
    _: *const vk::EventCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    event: *mut vk::Event,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { event.write(vk::Event::from_raw(handle::create(Event(AtomicBool::new(false))))) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_event(_: vk::Device, event: vk::Event, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { handle::destroy::<Event>(event.as_raw()) }
}

pub unsafe extern "system" fn event_status(device: vk::Device, event: vk::Event) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let (device, event) = unsafe { (device_of(device), handle::get::<Event>(event.as_raw())) };
    match device.status() {
        vk::Result::SUCCESS if event.is_some_and(|e| e.0.load(Ordering::Acquire)) => vk::Result::EVENT_SET,
        vk::Result::SUCCESS => vk::Result::EVENT_RESET,
        lost => lost,
    }
}

/// # Safety
/// `event` must be a live event.
unsafe fn set_from_host(event: vk::Event, set: bool) -> vk::Result {
    // SAFETY: the caller passes a live event.
    unsafe { execute(&Op::SetEvent(event.as_raw(), set)) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn set_event(_: vk::Device, event: vk::Event) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { set_from_host(event, true) }
}

pub unsafe extern "system" fn reset_event(_: vk::Device, event: vk::Event) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { set_from_host(event, false) }
}

pub unsafe extern "system" fn create_query_pool(
    _: vk::Device,
    info: *const vk::QueryPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::QueryPool,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let queries = (0..(*info).query_count).map(|_| AtomicBool::new(false)).collect();
        pool.write(vk::QueryPool::from_raw(handle::create(Queries(queries))));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_query_pool(
    _: vk::Device,
    pool: vk::QueryPool,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { handle::destroy::<Queries>(pool.as_raw()) }
}

pub unsafe extern "system" fn reset_query_pool(_: vk::Device, pool: vk::QueryPool, first: u32, count: u32) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { execute(&Op::SetQueries(pool.as_raw(), first, count, false)) }
}

pub unsafe extern "system" fn query_results(
    device: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    size: usize,
    data: *mut c_void,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    // SAFETY: by the command's valid usage, `data` has `size` bytes; nothing is written beyond.
    unsafe {
        let queries = handle::get::<Queries>(pool.as_raw()).map_or(&[][..], |pool| &pool.0);
        let selected = || queries.iter().skip(first as usize).take(count as usize);
        let available = || selected().all(|query| query.load(Ordering::Acquire));
        let device = device_of(device);
        let result = match flags.contains(vk::QueryResultFlags::WAIT) {
            true => device.wait(u64::MAX, available),
            false => device.status(),
        };
        if result != vk::Result::SUCCESS {
            return result;
        }
        let width = if flags.contains(vk::QueryResultFlags::TYPE_64) {
            8
        } else {
            4
        };
        for (index, query) in selected().enumerate() {
            let at = index * stride as usize;
            if query.load(Ordering::Acquire) && at + width <= size {
                let value = data.cast::<u8>().add(at);
                value.copy_from_nonoverlapping(1u64.to_le_bytes().as_ptr(), width);
            }
        }
        match available() {
            true => vk::Result::SUCCESS,
            false => vk::Result::NOT_READY,
        }
    }
}
