//! Memory, and the memory of images.

use crate::addresses::GRANULE;
use crate::call_log::memory_allocated;
use crate::settings::Refused;
use crate::state::{LocalMemory, device_of};
use crate::{handle, physical};
use ash::vk::{self, Handle, TaggedStructure};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;

/// An allocation of `vkAllocateMemory`.
pub struct Memory {
    /// Host address.
    pub base: *mut u8,
    /// `None` for imported host memory, which the driver does not free.
    layout: Option<Layout>,
    /// Opaque capture address: requested or assigned.
    opaque: u64,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: `base` was allocated with this layout.
            unsafe { dealloc(self.base, layout) };
        }
    }
}

pub unsafe extern "system" fn allocate(
    device: vk::Device,
    info: *const vk::MemoryAllocateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    memory: *mut vk::DeviceMemory,
) -> vk::Result {
    // SAFETY: by the command's valid usage, pointers are valid and `sType` gives the type of each chained structure.
    unsafe {
        let device = device_of(device);
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
        memory_allocated((*info).memory_type_index);
        let call = if imported.is_some() {
            Refused::Import
        } else {
            Refused::Memory
        };
        if device.refuses(call) {
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        let index = (*info).memory_type_index;
        if physical::allowed_types(&device.settings, device.device_coherent) >> index & 1 == 0 {
            // The validation layer does not check this, so the driver fails visibly.
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        let kinds = physical::memory_types(&device.settings);
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
        let created = handle::create(Memory { base, layout, opaque });
        if local {
            let local = LocalMemory {
                base: base as u64,
                bytes: size,
            };
            device.lock().local_memory.insert(created, local);
        }
        memory.write(vk::DeviceMemory::from_raw(created));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn free(
    device: vk::Device,
    memory: vk::DeviceMemory,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, the memory is not used afterwards.
    unsafe {
        device_of(device).lock().local_memory.remove(&memory.as_raw());
        handle::destroy::<Memory>(memory.as_raw());
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let Some(memory) = handle::get::<Memory>(memory.as_raw()) else {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        };
        if device_of(device).refuses(Refused::Map) {
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
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let memory = unsafe { handle::get::<Memory>((*info).memory.as_raw()) };
    memory.map_or(0, |memory| memory.opaque.max(1))
}

pub unsafe extern "system" fn host_pointer_properties(
    device: vk::Device,
    _: vk::ExternalMemoryHandleTypeFlags,
    _: *const c_void,
    properties: *mut vk::MemoryHostPointerPropertiesEXT<'_>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let kinds = physical::memory_types(&device_of(device).settings);
        let host = |kind: &vk::MemoryType| kind.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
        let bits = kinds.iter().enumerate().filter(|(_, kind)| host(kind));
        (*properties).memory_type_bits = bits.fold(0, |bits, (index, _)| bits | 1 << index);
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn image_requirements(
    device: vk::Device,
    _: vk::Image,
    requirements: *mut vk::MemoryRequirements,
) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let device = device_of(device);
        requirements.write(vk::MemoryRequirements {
            size: 1 << 16,
            alignment: GRANULE,
            memory_type_bits: physical::allowed_types(&device.settings, device.device_coherent),
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
