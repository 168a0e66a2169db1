//! Buffers and their addresses.
//!
//! A GPU has its own address space, which starts at a different address in every process. With capture and replay a buffer
//! gets the requested address if the range is free. Addresses of a CPU device are host addresses.

use crate::addresses::GRANULE;
use crate::enumerate::{chained, slice};
use crate::handle::{self, Allocator, Object, Out};
use crate::memory::Memory;
use crate::physical;
use crate::settings::Refused;
use crate::state::Device;
use ash::vk::{self, Handle};
use std::sync::atomic::{AtomicU64, Ordering};

/// A buffer.
pub struct Buffer {
    size: u64,
    /// Requested address, or 0.
    opaque: u64,
    address: AtomicU64,
    /// Host address of the memory that it is bound to.
    host: AtomicU64,
}

impl Buffer {
    /// Host address of the first byte.
    pub fn host(&self) -> u64 {
        self.host.load(Ordering::Acquire)
    }
}

pub extern "system" fn create(
    device: &Device,
    info: &vk::BufferCreateInfo<'_>,
    allocator: Allocator<'_>,
    buffer: Out<'_, u64>,
) -> vk::Result {
    if let Some(error) = device.refusal(Refused::Buffer) {
        return error;
    }
    // SAFETY: by the command's valid usage, the chain is valid.
    let replayed = unsafe { chained::<vk::BufferOpaqueCaptureAddressCreateInfo<'_>>(info) };
    let opaque = replayed.map_or(0, |info| info.opaque_capture_address);
    let size = info.size.next_multiple_of(GRANULE);
    if opaque != 0 && (device.settings.replay_refused || !device.lock().addresses.is_free(opaque, size)) {
        return vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
    }
    let created = Buffer {
        size,
        opaque,
        address: AtomicU64::new(0),
        host: AtomicU64::new(0),
    };
    handle::create_with(allocator, buffer, created)
}

pub extern "system" fn destroy(device: &Device, buffer: u64, allocator: Allocator<'_>) {
    // SAFETY: by the command's valid usage, the buffer is not used afterwards.
    if let Some(buffer) = unsafe { handle::take_with::<Buffer>(allocator, buffer) } {
        device.lock().addresses.bound.remove(&buffer.address.into_inner());
    }
}

pub extern "system" fn memory_requirements(
    device: &Device,
    buffer: Object<'_, Buffer>,
    requirements: Out<'_, vk::MemoryRequirements>,
) {
    requirements.write(physical::requirements(device, buffer.size));
}

pub extern "system" fn memory_requirements2(
    device: &Device,
    info: &vk::BufferMemoryRequirementsInfo2<'_>,
    requirements: &mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: by the command's valid usage, the buffer is live.
    if let Some(buffer) = unsafe { handle::get::<Buffer>(info.buffer.as_raw()) } {
        requirements.memory_requirements = physical::requirements(device, buffer.size);
    }
}

pub extern "system" fn bind(
    device: &Device,
    buffer: Object<'_, Buffer>,
    memory: Object<'_, Memory>,
    offset: vk::DeviceSize,
) -> vk::Result {
    let host = memory.base as u64 + offset;
    let mut state = device.lock();
    let address = match device.settings.cpu {
        true => Some(host),
        false => state.addresses.place(buffer.opaque, buffer.size),
    };
    let Some(address) = address else {
        return vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
    };
    state.addresses.bound.insert(address, (buffer.size, host));
    buffer.address.store(address, Ordering::Release);
    buffer.host.store(host, Ordering::Release);
    vk::Result::SUCCESS
}

pub extern "system" fn bind2(device: &Device, count: u32, infos: *const vk::BindBufferMemoryInfo<'_>) -> vk::Result {
    let bind = |info: &vk::BindBufferMemoryInfo<'_>| {
        // SAFETY: by the command's valid usage, the handles are live.
        match unsafe { (Object::of(info.buffer.as_raw()), Object::of(info.memory.as_raw())) } {
            (Some(buffer), Some(memory)) => bind(device, buffer, memory, info.memory_offset),
            _ => vk::Result::ERROR_UNKNOWN,
        }
    };
    // SAFETY: by the command's valid usage, the array has `count` elements.
    let failed = unsafe { slice(infos, count) }
        .iter()
        .map(bind)
        .find(|result| *result != vk::Result::SUCCESS);
    failed.unwrap_or(vk::Result::SUCCESS)
}

pub extern "system" fn address(_: &Device, info: &vk::BufferDeviceAddressInfo<'_>) -> u64 {
    // SAFETY: by the command's valid usage, the buffer is live.
    let buffer = unsafe { handle::get::<Buffer>(info.buffer.as_raw()) };
    buffer.map_or(0, |buffer| buffer.address.load(Ordering::Acquire))
}
