//! Mapped memory that shaders reach by a device address, and host memory at a fixed address.
//!
//! A mapping at a fixed address takes the first free slot of a row. Other mappings are never replaced: the mapping call fails
//! instead.

use super::memory_type::MemoryChoice;
use crate::loader::dispatch::DeviceTable;
use crate::os;
use ash::vk::{self, Handle as _};
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
            destroy(device, buffer.as_raw(), ptr::null());
        }
        if let Some(free) = next.vkFreeMemory {
            free(device, memory.as_raw(), ptr::null());
        }
    }
}

/// Mappings are multiples of this, in bytes: the largest `minImportedHostPointerAlignment` of any implementation.
pub const GRANULARITY: u64 = 1 << 16;
/// Addresses and numbers of slots of the rows, far from where Linux places programs, heaps, libraries and stacks. The second row
/// is for processors with an address space of 39 bits. In 32-bit processes there is one, between the heap and the libraries.
const ROWS: &[(u64, u64)] = match size_of::<usize>() {
    4 => &[(0x7000_0000, 16)],
    _ => &[(0x2AB0_0000_0000, 1024), (0x2A_B000_0000, 64)],
};
/// Bytes between two slots of a row.
const STRIDE: u64 = if size_of::<usize>() == 4 { 1 << 26 } else { 1 << 30 };

/// Pages mapped for an arena.
pub struct FixedMapping {
    /// The first byte.
    pub base: NonNull<u8>,
    /// Size in bytes.
    pub bytes: u64,
}

impl FixedMapping {
    /// Maps at least `bytes` zeroed bytes in the first free slot. `None`: no slot is free or large enough.
    pub fn new(bytes: u64) -> Option<Self> {
        let bytes = bytes
            .checked_next_multiple_of(GRANULARITY)
            .filter(|bytes| *bytes <= STRIDE)?;
        let mut slots = ROWS
            .iter()
            .flat_map(|(row, slots)| (0..*slots).map(move |slot| row + slot * STRIDE));
        slots.find_map(|address| map_at(address, bytes))
    }
}

impl Drop for FixedMapping {
    fn drop(&mut self) {
        // SAFETY: `map_at` mapped the pages, and nothing uses them once the mapping is dropped.
        unsafe { os::unmap(self.base, self.bytes as usize) };
    }
}

fn map_at(address: u64, bytes: u64) -> Option<FixedMapping> {
    let base = os::map_at(usize::try_from(address).ok()?, usize::try_from(bytes).ok()?)?;
    Some(FixedMapping { base, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_take_the_first_free_slot_and_free_it_when_dropped() {
        let first = FixedMapping::new(1 << 20);
        let second = FixedMapping::new(1);
        let address = |m: &Option<FixedMapping>| m.as_ref().map(|m| m.base.as_ptr() as u64);
        let (Some(a), Some(b)) = (address(&first), address(&second)) else {
            panic!("no slot is free");
        };
        assert_eq!(b, a + STRIDE);
        assert_eq!(second.as_ref().map(|m| m.bytes), Some(GRANULARITY));
        drop(first);
        let again = FixedMapping::new(4096);
        assert_eq!(address(&again), Some(a), "the lowest free slot is used first");
        assert!(FixedMapping::new(1 << 40).is_none());
    }
}
