//! Fences and semaphores.

use crate::handle;
use crate::settings::Refused;
use crate::state::device_of;
use ash::vk::{self, Handle, TaggedStructure};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A fence.
pub struct Fence(AtomicBool);

impl Fence {
    /// Signals the fence.
    pub fn signal(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_signalled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A semaphore. A binary semaphore is a timeline with values 0 and 1 that a wait resets.
pub struct Semaphore {
    timeline: bool,
    value: AtomicU64,
}

impl Semaphore {
    /// Whether a wait for `value` can end.
    pub fn has(&self, value: u64) -> bool {
        let target = if self.timeline { value } else { 1 };
        self.value.load(Ordering::Acquire) >= target
    }

    /// Applies the effect of a completed wait.
    pub fn consume(&self, _: u64) {
        if !self.timeline {
            self.value.store(0, Ordering::Release);
        }
    }

    /// Signals the semaphore.
    pub fn signal(&self, value: u64) {
        let value = if self.timeline { value } else { 1 };
        self.value.store(value, Ordering::Release);
    }
}

pub unsafe extern "system" fn create_fence(
    device: vk::Device,
    info: *const vk::FenceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    fence: *mut vk::Fence,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        if device_of(device).refuses(Refused::Fence) {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        }
        let signalled = (*info).flags.contains(vk::FenceCreateFlags::SIGNALED);
        fence.write(vk::Fence::from_raw(handle::create(Fence(AtomicBool::new(signalled)))));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_fence(_: vk::Device, fence: vk::Fence, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { handle::destroy::<Fence>(fence.as_raw()) }
}

/// # Safety
/// `list` must point to `count` live fences.
unsafe fn fences<'a>(count: u32, list: *const vk::Fence) -> Vec<&'a Fence> {
    // SAFETY: the caller passes `count` handles.
    let list = unsafe { std::slice::from_raw_parts(list, count as usize) };
    // SAFETY: the caller passes live fences.
    list.iter()
        .filter_map(|fence| unsafe { handle::get(fence.as_raw()) })
        .collect()
}

pub unsafe extern "system" fn reset_fences(_: vk::Device, count: u32, list: *const vk::Fence) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    for fence in unsafe { fences(count, list) } {
        fence.0.store(false, Ordering::Release);
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn fence_status(device: vk::Device, fence: vk::Fence) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let (device, fence) = unsafe { (device_of(device), handle::get::<Fence>(fence.as_raw())) };
    match device.status() {
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let (device, fences) = unsafe { (device_of(device), fences(count, list)) };
    device.wait(timeout, || match all {
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
    // SAFETY: by the command's valid usage, pointers are valid and `sType` gives the type of each chained structure.
    unsafe {
        let mut state = Semaphore {
            timeline: false,
            value: AtomicU64::new(0),
        };
        let mut node = (*info).p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            if base.s_type == vk::SemaphoreTypeCreateInfo::STRUCTURE_TYPE {
                let info = &*node.cast::<vk::SemaphoreTypeCreateInfo<'_>>();
                state.timeline = info.semaphore_type == vk::SemaphoreType::TIMELINE;
                state.value = AtomicU64::new(info.initial_value);
            }
            node = base.p_next;
        }
        semaphore.write(vk::Semaphore::from_raw(handle::create(state)));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_semaphore(
    _: vk::Device,
    semaphore: vk::Semaphore,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { handle::destroy::<Semaphore>(semaphore.as_raw()) }
}

pub unsafe extern "system" fn counter_value(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let semaphore = handle::get::<Semaphore>(semaphore.as_raw());
        value.write(semaphore.map_or(0, |s| s.value.load(Ordering::Acquire)));
        device_of(device).status()
    }
}

pub unsafe extern "system" fn signal_semaphore(
    device: vk::Device,
    info: *const vk::SemaphoreSignalInfo<'_>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let device = device_of(device);
        let _state = device.lock();
        if let Some(semaphore) = handle::get::<Semaphore>((*info).semaphore.as_raw()) {
            semaphore.signal((*info).value);
        }
        device.changed.notify_all();
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn wait_semaphores(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let count = (*info).semaphore_count as usize;
        let semaphores = std::slice::from_raw_parts((*info).p_semaphores, count).iter();
        let values = std::slice::from_raw_parts((*info).p_values, count).iter();
        let has = |(semaphore, value): (&vk::Semaphore, &u64)| {
            handle::get::<Semaphore>(semaphore.as_raw()).is_some_and(|s| s.has(*value))
        };
        device_of(device).wait(timeout, || match (*info).flags.contains(vk::SemaphoreWaitFlags::ANY) {
            true => semaphores.clone().zip(values.clone()).any(has),
            false => semaphores.clone().zip(values.clone()).all(has),
        })
    }
}
