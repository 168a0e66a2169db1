//! Events and query pools.

use crate::command::Op;
use crate::handle::{self, Allocator, Object, Out};
use crate::state::Device;
use ash::vk;
use std::sync::atomic::{AtomicBool, Ordering};

/// An event.
#[derive(Default)]
pub struct Event(AtomicBool);

/// A query pool: the availability of each query. All values are 1.
pub struct Queries(Vec<AtomicBool>);

impl Queries {
    fn range(&self, first: u32, count: u32) -> impl Iterator<Item = &AtomicBool> {
        self.0.iter().skip(first as usize).take(count as usize)
    }

    /// Makes queries available or unavailable.
    fn set(&self, first: u32, count: u32, available: bool) {
        self.range(first, count)
            .for_each(|query| query.store(available, Ordering::Release));
    }
}

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
                if let Some(pool) = handle::get::<Queries>(pool) {
                    pool.set(first, count, available);
                }
            }
            Op::Run(_) | Op::WriteMarker(..) | Op::Checkpoint(_) => {}
        }
    }
}

pub extern "system" fn event_status(device: &Device, event: Object<'_, Event>) -> vk::Result {
    match device.status() {
        vk::Result::SUCCESS if event.0.load(Ordering::Acquire) => vk::Result::EVENT_SET,
        vk::Result::SUCCESS => vk::Result::EVENT_RESET,
        lost => lost,
    }
}

/// `vkSetEvent` and `vkResetEvent`.
pub extern "system" fn set_event<const SET: bool>(_: &Device, event: Object<'_, Event>) -> vk::Result {
    event.0.store(SET, Ordering::Release);
    vk::Result::SUCCESS
}

pub extern "system" fn create_query_pool(
    _: &Device,
    info: &vk::QueryPoolCreateInfo<'_>,
    allocator: Allocator<'_>,
    pool: Out<'_, u64>,
) -> vk::Result {
    let queries = (0..info.query_count).map(|_| AtomicBool::default()).collect();
    handle::create_with(allocator, pool, Queries(queries))
}

pub extern "system" fn reset_query_pool(_: &Device, pool: Object<'_, Queries>, first: u32, count: u32) {
    pool.set(first, count, false);
}

pub extern "system" fn query_results(
    device: &Device,
    pool: Object<'_, Queries>,
    first: u32,
    count: u32,
    size: usize,
    data: *mut u8,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    let available = || pool.range(first, count).all(|query| query.load(Ordering::Acquire));
    let result = match flags.contains(vk::QueryResultFlags::WAIT) {
        true => device.wait(u64::MAX, available),
        false => device.status(),
    };
    if result != vk::Result::SUCCESS {
        return result;
    }
    let is_64_bit = flags.contains(vk::QueryResultFlags::TYPE_64);
    let width = if is_64_bit { 8 } else { 4 };
    for (index, query) in pool.range(first, count).enumerate() {
        let at = index * stride as usize;
        if query.load(Ordering::Acquire) && at + width <= size {
            // SAFETY: by the command's valid usage, `data` has `size` bytes; nothing is written beyond.
            unsafe {
                data.add(at)
                    .copy_from_nonoverlapping(1u64.to_le_bytes().as_ptr(), width)
            };
        }
    }
    if available() {
        return vk::Result::SUCCESS;
    }
    // The layer waits by repeated queries.
    device.note_wait(&mut device.lock());
    vk::Result::NOT_READY
}
