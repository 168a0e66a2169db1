//! Mapped memory that shaders reach by a device address.

use super::fixed_mapping::FixedMapping;
use super::memory_type::MemoryChoice;
use crate::loader::dispatch::DeviceTable;
use ash::vk;
use std::fmt;
use std::ptr::{self, NonNull};

/// Mapped memory that shaders reach by a device address.
pub struct MappedBuffer {
    /// Null if the driver has no object for the memory.
    pub buffer: vk::Buffer,
    /// Null if the driver has no object for the memory.
    pub memory: vk::DeviceMemory,
    /// Host address of the first byte.
    pub base: NonNull<u8>,
    /// Device address of the first byte.
    pub address: u64,
    /// The driver's memory type. `None` if the driver has no object for the memory.
    pub choice: Option<MemoryChoice>,
    /// Host memory that the buffer consists of. Unmapped after the driver's objects are destroyed.
    pub mapping: Option<FixedMapping>,
}

impl MappedBuffer {
    /// Host memory that the driver does not know, on a driver whose shaders use host addresses.
    pub fn without_driver(mapping: FixedMapping) -> Self {
        Self {
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            base: mapping.base,
            address: mapping.base.as_ptr() as u64,
            choice: None,
            mapping: Some(mapping),
        }
    }

    /// Destroys the buffer and frees its memory.
    ///
    /// # Safety
    /// All submitted work that may access the buffer has completed, and none is submitted afterwards.
    pub unsafe fn destroy(self, device: vk::Device, next: &DeviceTable) {
        // SAFETY: the caller guarantees that the buffer is not in use, and this layer created both on `device`.
        unsafe { destroy(device, next, self.buffer, self.memory) };
        drop(self.mapping);
    }
}

impl fmt::Display for MappedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.choice {
            Some(choice) => write!(
                f,
                "memory type {} ({:?}), {}",
                choice.index, choice.flags, choice.reason
            ),
            None => f.write_str("memory that the layer allocated"),
        }
    }
}

/// Destroys a buffer and frees its memory. Both may be null.
///
/// # Safety
/// Both were created on `device`, and no submitted work that may access them is pending.
pub unsafe fn destroy(device: vk::Device, next: &DeviceTable, buffer: vk::Buffer, memory: vk::DeviceMemory) {
    // SAFETY: the caller guarantees that neither is in use.
    unsafe {
        if let Some(destroy) = next.vkDestroyBuffer {
            destroy(device, buffer, ptr::null());
        }
        if let Some(free) = next.vkFreeMemory {
            free(device, memory, ptr::null());
        }
    }
}
