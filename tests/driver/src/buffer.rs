//! Buffers and their addresses.
//!
//! A GPU has its own address space, which starts at a different address in every process. With capture and replay a buffer
//! gets the requested address if the range is free. Addresses of a CPU device are host addresses.

use crate::addresses::GRANULE;
use crate::memory::Memory;
use crate::settings::Refused;
use crate::state::device_of;
use crate::{handle, physical};
use ash::vk::{self, Handle, TaggedStructure};
use std::sync::atomic::{AtomicU64, Ordering};

/// A buffer.
struct Buffer {
    size: u64,
    /// Requested address, or 0.
    opaque: u64,
    address: AtomicU64,
}

pub unsafe extern "system" fn create(
    device: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    // SAFETY: by the command's valid usage, pointers are valid and `sType` gives the type of each chained structure.
    unsafe {
        let device = device_of(device);
        if device.refuses(Refused::Buffer) {
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        let mut opaque = 0;
        let mut node = (*info).p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            if base.s_type == vk::BufferOpaqueCaptureAddressCreateInfo::STRUCTURE_TYPE {
                let info = &*node.cast::<vk::BufferOpaqueCaptureAddressCreateInfo<'_>>();
                opaque = info.opaque_capture_address;
            }
            node = base.p_next;
        }
        let size = (*info).size.next_multiple_of(GRANULE);
        let is_occupied =
            opaque != 0 && (device.settings.replay_refused || !device.lock().addresses.is_free(opaque, size));
        if is_occupied {
            return vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
        }
        let created = handle::create(Buffer {
            size,
            opaque,
            address: AtomicU64::new(0),
        });
        buffer.write(vk::Buffer::from_raw(created));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy(device: vk::Device, buffer: vk::Buffer, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: by the command's valid usage, the buffer is not used afterwards.
    unsafe {
        if let Some(buffer) = handle::take::<Buffer>(buffer.as_raw()) {
            device_of(device)
                .lock()
                .addresses
                .bound
                .remove(&buffer.address.into_inner());
        }
    }
}

pub unsafe extern "system" fn memory_requirements(
    device: vk::Device,
    buffer: vk::Buffer,
    requirements: *mut vk::MemoryRequirements,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let device = device_of(device);
        let size = handle::get::<Buffer>(buffer.as_raw()).map_or(0, |buffer| buffer.size);
        requirements.write(vk::MemoryRequirements {
            size,
            alignment: GRANULE,
            memory_type_bits: physical::allowed_types(&device.settings, device.device_coherent),
        });
    }
}

pub unsafe extern "system" fn memory_requirements2(
    device: vk::Device,
    info: *const vk::BufferMemoryRequirementsInfo2<'_>,
    requirements: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { memory_requirements(device, (*info).buffer, &raw mut (*requirements).memory_requirements) }
}

pub unsafe extern "system" fn bind(
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let device = device_of(device);
        let (buffer, memory) = (
            handle::get::<Buffer>(buffer.as_raw()),
            handle::get::<Memory>(memory.as_raw()),
        );
        let (Some(buffer), Some(memory)) = (buffer, memory) else {
            return vk::Result::ERROR_UNKNOWN;
        };
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
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn bind2(
    device: vk::Device,
    count: u32,
    infos: *const vk::BindBufferMemoryInfo<'_>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let infos = unsafe { std::slice::from_raw_parts(infos, count as usize) };
    let bind = |info: &vk::BindBufferMemoryInfo<'_>| {
        // SAFETY: each element is a valid structure by the command's valid usage.
        unsafe { bind(device, info.buffer, info.memory, info.memory_offset) }
    };
    let failed = infos.iter().map(bind).find(|result| *result != vk::Result::SUCCESS);
    failed.unwrap_or(vk::Result::SUCCESS)
}

pub unsafe extern "system" fn address(_: vk::Device, info: *const vk::BufferDeviceAddressInfo<'_>) -> u64 {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let buffer = unsafe { handle::get::<Buffer>((*info).buffer.as_raw()) };
    buffer.map_or(0, |buffer| buffer.address.load(Ordering::Acquire))
}
