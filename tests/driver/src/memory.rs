//! Memory, and the memory of images.

use crate::addresses::GRANULE;
use crate::call_log::memory_allocated;
use crate::enumerate::chained;
use crate::handle::{self, Allocator, Object, Out};
use crate::object;
use crate::physical;
use crate::settings::Refused;
use crate::state::{Device, LocalMemory};
use ash::vk::{self, Handle};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;

/// An allocation of `vkAllocateMemory`.
pub struct Memory {
    /// Host address.
    pub base: *mut u8,
    /// The allocation that contains it. `None` for imported host memory, which the driver does not free.
    allocation: Option<(*mut u8, Layout)>,
    /// Opaque capture address: requested or assigned.
    opaque: u64,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some((base, layout)) = self.allocation {
            // SAFETY: `base` was allocated with this layout.
            unsafe { dealloc(base, layout) };
        }
    }
}

/// The next multiple of [`GRANULE`]; null stays null.
fn align(base: *mut u8) -> *mut u8 {
    base.wrapping_add((base as usize).wrapping_neg() % GRANULE as usize)
}

pub extern "system" fn allocate(
    device: &Device,
    info: &vk::MemoryAllocateInfo<'_>,
    allocator: Allocator<'_>,
    memory: Out<'_, u64>,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the chain is valid.
    let (imported, replayed) = unsafe {
        (
            chained::<vk::ImportMemoryHostPointerInfoEXT<'_>>(info).map(|info| info.p_host_pointer),
            chained::<vk::MemoryOpaqueCaptureAddressAllocateInfo<'_>>(info),
        )
    };
    let index = info.memory_type_index;
    memory_allocated(index);
    let refusal = device.refusal(match imported {
        Some(_) => Refused::Import,
        None => Refused::Memory,
    });
    if let Some(error) = refusal {
        return error;
    }
    // The validation layer does not check the type, so the driver fails visibly.
    if physical::allowed_types(&device.settings, device.device_coherent) >> index & 1 == 0 {
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    let kinds = physical::memory_types(&device.settings);
    let is_local = |kind: &vk::MemoryType| kind.property_flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL);
    let size = usize::try_from(info.allocation_size).unwrap_or(usize::MAX).max(1);
    // Aligned afterwards: `alloc_zeroed` writes every page of memory with more than malloc's alignment, and so the pages of
    // memory that no one uses would be resident.
    let layout = Layout::from_size_align(size.saturating_add(GRANULE as usize), align_of::<u128>());
    let Ok(layout) = layout else {
        return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
    };
    let (base, allocation) = match imported {
        Some(pointer) => (pointer.cast::<u8>(), None),
        None => {
            // SAFETY: the size is at least 1.
            let base = unsafe { alloc_zeroed(layout) };
            (align(base), Some((base, layout)))
        }
    };
    if base.is_null() {
        return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
    }
    let created = Memory {
        base,
        allocation,
        opaque: replayed.map_or(0, |info| info.opaque_capture_address),
    };
    let result = handle::create_with(allocator, memory, created);
    if result != vk::Result::SUCCESS {
        return result;
    }
    // SAFETY: `create_with` wrote the handle.
    let created = unsafe { memory.assume_init() };
    if kinds.get(index as usize).is_some_and(is_local) {
        let local = LocalMemory {
            base: base as u64,
            bytes: size,
        };
        device.lock().local_memory.insert(created, local);
    }
    vk::Result::SUCCESS
}

pub extern "system" fn free(device: &Device, memory: u64, allocator: Allocator<'_>) {
    device.lock().local_memory.remove(&memory);
    object::destroy::<Memory>(device, memory, allocator);
}

pub extern "system" fn map(
    device: &Device,
    memory: Object<'_, Memory>,
    offset: vk::DeviceSize,
    _: vk::DeviceSize,
    _: vk::MemoryMapFlags,
    data: Out<'_, *mut u8>,
) -> vk::Result {
    if let Some(error) = device.refusal(Refused::Map) {
        return error;
    }
    data.write(memory.base.wrapping_add(offset as usize));
    vk::Result::SUCCESS
}

pub extern "system" fn memory_opaque_address(_: &Device, info: &vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>) -> u64 {
    // SAFETY: by the command's valid usage, the memory is live.
    let memory = unsafe { handle::get::<Memory>(info.memory.as_raw()) };
    memory.map_or(0, |memory| memory.opaque.max(1))
}

pub extern "system" fn host_pointer_properties(
    device: &Device,
    _: vk::ExternalMemoryHandleTypeFlags,
    _: *const c_void,
    properties: &mut vk::MemoryHostPointerPropertiesEXT<'_>,
) -> vk::Result {
    let is_host = |kind: &vk::MemoryType| kind.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
    properties.memory_type_bits = physical::type_bits(&device.settings, is_host);
    vk::Result::SUCCESS
}

pub extern "system" fn image_requirements(device: &Device, _: u64, requirements: Out<'_, vk::MemoryRequirements>) {
    requirements.write(physical::requirements(device, 1 << 16));
}
