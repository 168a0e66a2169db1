//! Memory, buffers, images, and the addresses of buffers.
//!
//! A GPU's addresses are of a space of its own, which starts elsewhere in every process; with capture and replay a buffer
//! gets the address that is asked for, if nothing else is there. A CPU's addresses are host addresses.

use crate::addresses::GRANULE;
use crate::device::known;
use crate::settings::Refused;
use crate::{handle, physical};
use ash::vk::{self, Handle, TaggedStructure};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Memory.
struct Memory {
    base: *mut u8,
    /// None: imported, and so not ours.
    layout: Option<Layout>,
    /// Handed out for capture, or asked for.
    opaque: u64,
    bytes: usize,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.base, layout) };
        }
    }
}

/// A buffer.
struct Buffer {
    size: u64,
    /// Where it was asked to be.
    opaque: u64,
    address: AtomicU64,
}

pub unsafe extern "system" fn allocate(
    device: vk::Device,
    info: *const vk::MemoryAllocateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    memory: *mut vk::DeviceMemory,
) -> vk::Result {
    // SAFETY: as the API has it; the types say what the nodes of the chain are.
    unsafe {
        let known = known(device);
        let (mut imported, mut opaque) = (None, 0);
        let mut node = (*info).p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            match base.s_type {
                vk::ImportMemoryHostPointerInfoEXT::STRUCTURE_TYPE => {
                    imported = Some((*node.cast::<vk::ImportMemoryHostPointerInfoEXT<'_>>()).p_host_pointer);
                }
                vk::MemoryOpaqueCaptureAddressAllocateInfo::STRUCTURE_TYPE => {
                    let info = &*node.cast::<vk::MemoryOpaqueCaptureAddressAllocateInfo<'_>>();
                    opaque = info.opaque_capture_address;
                }
                _ => {}
            }
            node = base.p_next;
        }
        crate::seen::memory_allocated((*info).memory_type_index);
        let what = if imported.is_some() {
            Refused::Import
        } else {
            Refused::Memory
        };
        if known.refuses(what) {
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        let index = (*info).memory_type_index;
        if physical::allowed_types(&known.settings, known.device_coherent) >> index & 1 == 0 {
            // No rule says what happens to such a program: this makes it notice.
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        let kinds = physical::memory_types(&known.settings);
        let flags = kinds
            .get(index as usize)
            .map_or_else(Default::default, |kind| kind.property_flags);
        let local = flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL);
        let size = usize::try_from((*info).allocation_size).unwrap_or(usize::MAX).max(1);
        let Ok(layout) = Layout::from_size_align(size, GRANULE as usize) else {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        };
        let (base, layout) = match imported {
            Some(pointer) => (pointer.cast::<u8>(), None),
            None => (alloc_zeroed(layout), Some(layout)),
        };
        if base.is_null() {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        }
        let made = handle::make(Memory {
            base,
            layout,
            opaque,
            bytes: size,
        });
        if local {
            known.lock().local_memory.push(made);
        }
        memory.write(vk::DeviceMemory::from_raw(made));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn free(
    device: vk::Device,
    memory: vk::DeviceMemory,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the application's last use.
    unsafe {
        known(device)
            .lock()
            .local_memory
            .retain(|local| *local != memory.as_raw());
        handle::destroy::<Memory>(memory.as_raw());
    }
}

/// Fills memory with a byte, as a loss does.
///
/// # Safety
/// The handle must be of memory that is not freed yet.
pub unsafe fn lose(memory: u64, with: u8) {
    // SAFETY: the caller vouches for the memory. Word by word: the host may be reading.
    unsafe {
        let Some(memory) = handle::get::<Memory>(memory) else {
            return;
        };
        for word in 0..memory.bytes / 4 {
            AtomicU32::from_ptr(memory.base.cast::<u32>().add(word))
                .store(u32::from_ne_bytes([with; 4]), Ordering::Relaxed);
        }
    }
}

pub unsafe extern "system" fn map(
    device: vk::Device,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
    _: vk::DeviceSize,
    _: vk::MemoryMapFlags,
    data: *mut *mut c_void,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let Some(memory) = handle::get::<Memory>(memory.as_raw()) else {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        };
        if known(device).refuses(Refused::Map) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        data.write(memory.base.add(offset as usize).cast());
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn unmap(_: vk::Device, _: vk::DeviceMemory) {}

pub unsafe extern "system" fn flush(_: vk::Device, _: u32, _: *const vk::MappedMemoryRange<'_>) -> vk::Result {
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn memory_opaque_address(
    _: vk::Device,
    info: *const vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>,
) -> u64 {
    // SAFETY: as the API has it.
    let memory = unsafe { handle::get::<Memory>((*info).memory.as_raw()) };
    memory.map_or(0, |memory| memory.opaque.max(1))
}

pub unsafe extern "system" fn host_pointer_properties(
    device: vk::Device,
    _: vk::ExternalMemoryHandleTypeFlags,
    _: *const c_void,
    properties: *mut vk::MemoryHostPointerPropertiesEXT<'_>,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let kinds = physical::memory_types(&known(device).settings);
        let host = |kind: &vk::MemoryType| kind.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let bits = kinds.iter().enumerate().filter(|(_, kind)| host(kind));
        (*properties).memory_type_bits = bits.fold(0, |bits, (index, _)| bits | 1 << index);
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn create_buffer(
    device: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    // SAFETY: as the API has it; the type says what the node of the chain is.
    unsafe {
        let known = known(device);
        if known.refuses(Refused::Buffer) {
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
        let taken = opaque != 0 && (known.settings.replay_refused || !known.lock().addresses.is_free(opaque, size));
        if taken {
            return vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
        }
        let made = handle::make(Buffer {
            size,
            opaque,
            address: AtomicU64::new(0),
        });
        buffer.write(vk::Buffer::from_raw(made));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy_buffer(
    device: vk::Device,
    buffer: vk::Buffer,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the application's last use.
    unsafe {
        if let Some(buffer) = handle::take::<Buffer>(buffer.as_raw()) {
            known(device)
                .lock()
                .addresses
                .bound
                .remove(&buffer.address.into_inner());
        }
    }
}

pub unsafe extern "system" fn buffer_requirements(
    device: vk::Device,
    buffer: vk::Buffer,
    requirements: *mut vk::MemoryRequirements,
) {
    // SAFETY: as the API has it.
    unsafe {
        let size = handle::get::<Buffer>(buffer.as_raw()).map_or(0, |buffer| buffer.size);
        requirements.write(vk::MemoryRequirements {
            size,
            alignment: GRANULE,
            memory_type_bits: physical::allowed_types(&known(device).settings, known(device).device_coherent),
        });
    }
}

pub unsafe extern "system" fn buffer_requirements2(
    device: vk::Device,
    info: *const vk::BufferMemoryRequirementsInfo2<'_>,
    requirements: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: as the API has it.
    unsafe { buffer_requirements(device, (*info).buffer, &raw mut (*requirements).memory_requirements) }
}

pub unsafe extern "system" fn bind_buffer(
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let known = known(device);
        let (buffer, memory) = (
            handle::get::<Buffer>(buffer.as_raw()),
            handle::get::<Memory>(memory.as_raw()),
        );
        let (Some(buffer), Some(memory)) = (buffer, memory) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        let host = memory.base as u64 + offset;
        let mut state = known.lock();
        let address = match known.settings.cpu {
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

pub unsafe extern "system" fn bind_buffer2(
    device: vk::Device,
    count: u32,
    infos: *const vk::BindBufferMemoryInfo<'_>,
) -> vk::Result {
    // SAFETY: as the API has it.
    let infos = unsafe { std::slice::from_raw_parts(infos, count as usize) };
    let bind = |info: &vk::BindBufferMemoryInfo<'_>| {
        // SAFETY: as above.
        unsafe { bind_buffer(device, info.buffer, info.memory, info.memory_offset) }
    };
    let failed = infos.iter().map(bind).find(|result| *result != vk::Result::SUCCESS);
    failed.unwrap_or(vk::Result::SUCCESS)
}

pub unsafe extern "system" fn buffer_address(_: vk::Device, info: *const vk::BufferDeviceAddressInfo<'_>) -> u64 {
    // SAFETY: as the API has it.
    let buffer = unsafe { handle::get::<Buffer>((*info).buffer.as_raw()) };
    buffer.map_or(0, |buffer| buffer.address.load(Ordering::Acquire))
}

pub unsafe extern "system" fn image_requirements(
    device: vk::Device,
    _: vk::Image,
    requirements: *mut vk::MemoryRequirements,
) {
    // SAFETY: as the API has it.
    unsafe {
        requirements.write(vk::MemoryRequirements {
            size: 1 << 16,
            alignment: GRANULE,
            memory_type_bits: physical::allowed_types(&known(device).settings, known(device).device_coherent),
        });
    }
}

pub unsafe extern "system" fn bind_image(
    _: vk::Device,
    _: vk::Image,
    _: vk::DeviceMemory,
    _: vk::DeviceSize,
) -> vk::Result {
    vk::Result::SUCCESS
}
