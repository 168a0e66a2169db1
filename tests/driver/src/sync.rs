//! Fences, semaphores, events and query pools.

use crate::command::Op;
use crate::device::known;
use crate::handle;
use crate::settings::Refused;
use ash::vk::{self, Handle, TaggedStructure};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A fence.
pub struct Fence(AtomicBool);

impl Fence {
    /// Signals it.
    pub fn signal(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_signalled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A semaphore: a binary one is a timeline of 0 and 1 that a wait sets back.
pub struct Semaphore {
    timeline: bool,
    value: AtomicU64,
}

impl Semaphore {
    /// A wait for `value` is over.
    pub fn has(&self, value: u64) -> bool {
        let wanted = if self.timeline { value } else { 1 };
        self.value.load(Ordering::Acquire) >= wanted
    }

    /// A wait for `value` has taken place.
    pub fn consume(&self, _: u64) {
        if !self.timeline {
            self.value.store(0, Ordering::Release);
        }
    }

    /// Signals it.
    pub fn signal(&self, value: u64) {
        let value = if self.timeline { value } else { 1 };
        self.value.store(value, Ordering::Release);
    }
}

/// An event.
struct Event(AtomicBool);

/// A query pool: each query is available or not, and its value is 1.
struct Queries(Vec<AtomicBool>);

/// Does what a command buffer says about one of these objects.
///
/// # Safety
/// The objects must be alive.
pub unsafe fn execute(op: &Op) {
    // SAFETY: the caller vouches for the objects.
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

pub unsafe extern "system" fn create_fence(
    device: vk::Device,
    info: *const vk::FenceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    fence: *mut vk::Fence,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        if known(device).refuses(Refused::Fence) {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        }
        let signalled = (*info).flags.contains(vk::FenceCreateFlags::SIGNALED);
        fence.write(vk::Fence::from_raw(handle::make(Fence(AtomicBool::new(signalled)))));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_fence(_: vk::Device, fence: vk::Fence, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: as the API has it.
    unsafe { handle::destroy::<Fence>(fence.as_raw()) }
}

/// # Safety
/// As the API has it.
unsafe fn fences<'a>(count: u32, list: *const vk::Fence) -> Vec<&'a Fence> {
    // SAFETY: as the API has it.
    let list = unsafe { std::slice::from_raw_parts(list, count as usize) };
    // SAFETY: as above.
    list.iter()
        .filter_map(|fence| unsafe { handle::get(fence.as_raw()) })
        .collect()
}

pub unsafe extern "system" fn reset_fences(_: vk::Device, count: u32, list: *const vk::Fence) -> vk::Result {
    // SAFETY: as the API has it.
    for fence in unsafe { fences(count, list) } {
        fence.0.store(false, Ordering::Release);
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn fence_status(device: vk::Device, fence: vk::Fence) -> vk::Result {
    // SAFETY: as the API has it.
    let (known, fence) = unsafe { (known(device), handle::get::<Fence>(fence.as_raw())) };
    match known.status() {
        vk::Result::SUCCESS if fence.is_some_and(Fence::is_signalled) => vk::Result::SUCCESS,
        vk::Result::SUCCESS => vk::Result::NOT_READY,
        lost => lost,
    }
}

pub unsafe extern "system" fn wait_for_fences(
    device: vk::Device,
    count: u32,
    list: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    // SAFETY: as the API has it.
    let (known, fences) = unsafe { (known(device), fences(count, list)) };
    known.wait(timeout, || match all {
        vk::FALSE => fences.iter().any(|fence| fence.is_signalled()),
        _ => fences.iter().all(|fence| fence.is_signalled()),
    })
}

pub unsafe extern "system" fn create_semaphore(
    _: vk::Device,
    info: *const vk::SemaphoreCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    semaphore: *mut vk::Semaphore,
) -> vk::Result {
    // SAFETY: as the API has it; the type says what the node of the chain is.
    unsafe {
        let mut made = Semaphore {
            timeline: false,
            value: AtomicU64::new(0),
        };
        let mut node = (*info).p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            if base.s_type == vk::SemaphoreTypeCreateInfo::STRUCTURE_TYPE {
                let info = &*node.cast::<vk::SemaphoreTypeCreateInfo<'_>>();
                made.timeline = info.semaphore_type == vk::SemaphoreType::TIMELINE;
                made.value = AtomicU64::new(info.initial_value);
            }
            node = base.p_next;
        }
        semaphore.write(vk::Semaphore::from_raw(handle::make(made)));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_semaphore(
    _: vk::Device,
    semaphore: vk::Semaphore,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: as the API has it.
    unsafe { handle::destroy::<Semaphore>(semaphore.as_raw()) }
}

pub unsafe extern "system" fn counter_value(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let semaphore = handle::get::<Semaphore>(semaphore.as_raw());
        value.write(semaphore.map_or(0, |s| s.value.load(Ordering::Acquire)));
        known(device).status()
    }
}

pub unsafe extern "system" fn signal_semaphore(
    device: vk::Device,
    info: *const vk::SemaphoreSignalInfo<'_>,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let known = known(device);
        let _state = known.lock();
        if let Some(semaphore) = handle::get::<Semaphore>((*info).semaphore.as_raw()) {
            semaphore.signal((*info).value);
        }
        known.changed.notify_all();
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn wait_semaphores(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let count = (*info).semaphore_count as usize;
        let semaphores = std::slice::from_raw_parts((*info).p_semaphores, count).iter();
        let values = std::slice::from_raw_parts((*info).p_values, count).iter();
        let has = |(semaphore, value): (&vk::Semaphore, &u64)| {
            handle::get::<Semaphore>(semaphore.as_raw()).is_some_and(|s| s.has(*value))
        };
        known(device).wait(timeout, || match (*info).flags.contains(vk::SemaphoreWaitFlags::ANY) {
            true => semaphores.clone().zip(values.clone()).any(has),
            false => semaphores.clone().zip(values.clone()).all(has),
        })
    }
}

pub unsafe extern "system" fn create_event(
    _: vk::Device,
    _: *const vk::EventCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    event: *mut vk::Event,
) -> vk::Result {
    // SAFETY: valid by the API's rules.
    unsafe { event.write(vk::Event::from_raw(handle::make(Event(AtomicBool::new(false))))) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_event(_: vk::Device, event: vk::Event, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: as the API has it.
    unsafe { handle::destroy::<Event>(event.as_raw()) }
}

pub unsafe extern "system" fn event_status(device: vk::Device, event: vk::Event) -> vk::Result {
    // SAFETY: as the API has it.
    let (known, event) = unsafe { (known(device), handle::get::<Event>(event.as_raw())) };
    match known.status() {
        vk::Result::SUCCESS if event.is_some_and(|e| e.0.load(Ordering::Acquire)) => vk::Result::EVENT_SET,
        vk::Result::SUCCESS => vk::Result::EVENT_RESET,
        lost => lost,
    }
}

/// # Safety
/// As the API has it.
unsafe fn host_sets(event: vk::Event, set: bool) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe { execute(&Op::SetEvent(event.as_raw(), set)) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn set_event(_: vk::Device, event: vk::Event) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe { host_sets(event, true) }
}

pub unsafe extern "system" fn reset_event(_: vk::Device, event: vk::Event) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe { host_sets(event, false) }
}

pub unsafe extern "system" fn create_query_pool(
    _: vk::Device,
    info: *const vk::QueryPoolCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::QueryPool,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let queries = (0..(*info).query_count).map(|_| AtomicBool::new(false)).collect();
        pool.write(vk::QueryPool::from_raw(handle::make(Queries(queries))));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_query_pool(
    _: vk::Device,
    pool: vk::QueryPool,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: as the API has it.
    unsafe { handle::destroy::<Queries>(pool.as_raw()) }
}

pub unsafe extern "system" fn reset_query_pool(_: vk::Device, pool: vk::QueryPool, first: u32, count: u32) {
    // SAFETY: as the API has it.
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
    // SAFETY: as the API has it; nothing is written beyond the size.
    unsafe {
        let queries = handle::get::<Queries>(pool.as_raw()).map_or(&[][..], |pool| &pool.0);
        let asked = || queries.iter().skip(first as usize).take(count as usize);
        let available = || asked().all(|query| query.load(Ordering::Acquire));
        let known = known(device);
        let result = match flags.contains(vk::QueryResultFlags::WAIT) {
            true => known.wait(u64::MAX, available),
            false => known.status(),
        };
        if result != vk::Result::SUCCESS {
            return result;
        }
        let width = if flags.contains(vk::QueryResultFlags::TYPE_64) {
            8
        } else {
            4
        };
        for (index, query) in asked().enumerate() {
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
