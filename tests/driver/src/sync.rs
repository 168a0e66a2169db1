//! Fences and semaphores.

use crate::enumerate::{chained, slice};
use crate::handle::{self, Allocator, Object, Out};
use crate::settings::Refused;
use crate::state::Device;
use ash::vk::{self, Handle};
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
    pub fn consume(&self) {
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

pub extern "system" fn create_fence(
    device: &Device,
    info: &vk::FenceCreateInfo<'_>,
    allocator: Allocator<'_>,
    fence: Out<'_, u64>,
) -> vk::Result {
    if let Some(error) = device.refusal(Refused::Fence) {
        return error;
    }
    let signalled = info.flags.contains(vk::FenceCreateFlags::SIGNALED);
    handle::create_with(allocator, fence, Fence(AtomicBool::new(signalled)))
}

pub extern "system" fn reset_fences(_: &Device, count: u32, list: *const Object<'_, Fence>) -> vk::Result {
    // SAFETY: by the command's valid usage, the array has `count` live fences.
    for fence in unsafe { slice(list, count) } {
        fence.0.store(false, Ordering::Release);
    }
    vk::Result::SUCCESS
}

pub extern "system" fn fence_status(device: &Device, fence: Object<'_, Fence>) -> vk::Result {
    match device.status() {
        vk::Result::SUCCESS if !fence.is_signalled() => vk::Result::NOT_READY,
        status => status,
    }
}

pub extern "system" fn wait_for_fences(
    device: &Device,
    count: u32,
    list: *const Object<'_, Fence>,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the array has `count` live fences.
    let fences = unsafe { slice(list, count) }.iter();
    device.wait(timeout, || match all {
        vk::FALSE => fences.clone().any(|fence| fence.is_signalled()),
        _ => fences.clone().all(|fence| fence.is_signalled()),
    })
}

pub extern "system" fn create_semaphore(
    _: &Device,
    info: &vk::SemaphoreCreateInfo<'_>,
    allocator: Allocator<'_>,
    semaphore: Out<'_, u64>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the chain is valid.
    let kind = unsafe { chained::<vk::SemaphoreTypeCreateInfo<'_>>(info) };
    let created = Semaphore {
        timeline: kind.is_some_and(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE),
        value: AtomicU64::new(kind.map_or(0, |kind| kind.initial_value)),
    };
    handle::create_with(allocator, semaphore, created)
}

pub extern "system" fn counter_value(
    device: &Device,
    semaphore: Object<'_, Semaphore>,
    value: Out<'_, u64>,
) -> vk::Result {
    value.write(semaphore.value.load(Ordering::Acquire));
    device.status()
}

pub extern "system" fn signal_semaphore(device: &Device, info: &vk::SemaphoreSignalInfo<'_>) -> vk::Result {
    let _state = device.lock();
    // SAFETY: by the command's valid usage, the semaphore is live.
    if let Some(semaphore) = unsafe { handle::get::<Semaphore>(info.semaphore.as_raw()) } {
        semaphore.signal(info.value);
    }
    device.changed.notify_all();
    vk::Result::SUCCESS
}

pub extern "system" fn wait_semaphores(device: &Device, info: &vk::SemaphoreWaitInfo<'_>, timeout: u64) -> vk::Result {
    // SAFETY: by the command's valid usage, the arrays have one live semaphore and one value for each wait.
    let (semaphores, values) = unsafe {
        (
            slice(info.p_semaphores.cast::<&Semaphore>(), info.semaphore_count),
            slice(info.p_values, info.semaphore_count),
        )
    };
    let waits = || semaphores.iter().zip(values);
    let has = |(semaphore, value): (&&Semaphore, &u64)| semaphore.has(*value);
    device.wait(timeout, || match info.flags.contains(vk::SemaphoreWaitFlags::ANY) {
        true => waits().any(has),
        false => waits().all(has),
    })
}
