//! The buffer that shaders write their messages into: one per device, mapped for its whole life, at an address that is
//! the same in every run wherever that is possible, since it stands in the shaders' code and so in pipeline caches.
//!
//! In this order: on CPU drivers, whose device addresses are host addresses, host memory mapped at a fixed place, imported
//! where the driver takes it; elsewhere `bufferDeviceAddressCaptureReplay`, asking for the address that an earlier run was given; else
//! whatever the driver gives.

#[cfg(unix)]
mod host;
mod replay;

use crate::dispatch::DeviceTable;
use crate::state::PhysicalDevice;
use ash::vk::{self, MemoryPropertyFlags as Property};
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use vkabort_record::layout::ABORTED_OFFSET;

/// What the arena is used as.
pub const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw() | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// Where an arena's address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Host memory at a fixed place, imported.
    Import,
    /// Host memory at a fixed place, on a driver whose shaders use host addresses anyway.
    Host,
    /// The opaque address that an earlier run was given.
    Replay,
    /// An opaque address that later runs will ask for.
    Capture,
    /// Whatever the driver gave: caches may not match between runs.
    Driver,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Import => "a fixed address, imported",
            Self::Host => "a fixed address",
            Self::Replay => "the address of an earlier run",
            Self::Capture => "an address that later runs will ask for",
            Self::Driver => "an address of the driver's choice",
        })
    }
}

/// Which function gives buffer addresses on this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressApi {
    /// Vulkan 1.2 or `VK_KHR_buffer_device_address`.
    Khr,
    /// `VK_EXT_buffer_device_address`, which the application enabled itself and which excludes the other.
    Ext,
}

/// What an arena is made from.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The new device.
    pub device: vk::Device,
    /// The next layer's functions.
    pub next: &'a DeviceTable,
    /// Its physical device.
    pub physical: &'a PhysicalDevice,
    /// Its memory types.
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// Queue families that the device has queues of.
    pub families: &'a [u32],
    /// Bytes of the arena.
    pub bytes: u32,
    /// How to ask for the address.
    pub api: AddressApi,
    /// `bufferDeviceAddressCaptureReplay` is on.
    pub capture_replay: bool,
    /// `VK_EXT_external_memory_host` is on.
    pub import: bool,
}

/// An arena.
pub struct Arena {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    base: NonNull<u8>,
    bytes: u32,
    address: u64,
    source: Source,
    /// The driver's memory type; none where the memory is the layer's own.
    kind: Option<(u32, Property)>,
    #[cfg(unix)]
    host: Option<host::Mapping>,
    slot: Option<replay::Slot>,
}

// SAFETY: the memory is shared with the GPU anyway: all access goes through atomics and volatile copies.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    /// Makes an arena, zeroed.
    ///
    /// # Errors
    /// What could not be made, in words.
    pub fn create(setup: &Setup<'_>) -> Result<Self, String> {
        #[cfg(unix)]
        if setup.physical.cpu
            && let Some(arena) = host::create(setup)
        {
            return Ok(arena);
        }
        if setup.capture_replay
            && let Some(arena) = replay::create(setup)
        {
            return Ok(arena);
        }
        let parts = Parts::create(setup, Extra::default())?;
        let address = parts.address(setup)?;
        parts.finish(setup, address, Source::Driver)
    }

    /// Device address of the control block.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes, control block included.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Where the address comes from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// What memory it is in, in words.
    pub fn memory(&self) -> String {
        match self.kind {
            Some((index, flags)) => format!("memory type {index} ({flags:?})"),
            None => "memory of the layer's own".to_owned(),
        }
    }

    /// The mapped memory.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Whether some invocation has aborted.
    #[inline]
    pub fn aborted(&self) -> bool {
        // SAFETY: within the mapped arena and aligned to 4. The GPU only ever writes whole words.
        unsafe { AtomicU32::from_ptr(self.base.as_ptr().add(ABORTED_OFFSET as usize).cast()) }.load(Ordering::Acquire)
            != 0
    }

    /// Frees everything.
    ///
    /// # Safety
    /// The GPU must not use the arena any more.
    pub unsafe fn destroy(self, device: vk::Device, next: &DeviceTable) {
        // SAFETY: the caller vouches that nothing uses them; both are ours.
        unsafe {
            if let Some(f) = next.vkDestroyBuffer {
                f(device, self.buffer, ptr::null());
            }
            if let Some(f) = next.vkFreeMemory {
                f(device, self.memory, ptr::null());
            }
        }
        // The imported pages go last, when the driver has let go of them; the replay slot is free again.
        #[cfg(unix)]
        drop(self.host);
        drop(self.slot);
    }

    /// Leaves everything as it is: the GPU may still be writing.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

/// What a special kind of arena adds to the ordinary create-infos.
#[derive(Default)]
struct Extra<'a> {
    buffer_flags: vk::BufferCreateFlags,
    allocate_flags: vk::MemoryAllocateFlags,
    buffer_address: u64,
    memory_address: u64,
    #[cfg(unix)]
    import: Option<&'a mut Option<host::Mapping>>,
    #[cfg(not(unix))]
    import: std::marker::PhantomData<&'a ()>,
}

/// A buffer with its memory. Destroyed when dropped, unless it became an arena.
struct Parts<'a> {
    device: vk::Device,
    next: &'a DeviceTable,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    kind: Option<(u32, Property)>,
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing was submitted yet; null is allowed.
        unsafe {
            if let Some(f) = self.next.vkDestroyBuffer {
                f(self.device, self.buffer, ptr::null());
            }
            if let Some(f) = self.next.vkFreeMemory {
                f(self.device, self.memory, ptr::null());
            }
        }
    }
}

fn missing() -> String {
    "the driver lacks a function that it has to have".to_owned()
}

fn check(result: vk::Result, what: &str) -> Result<(), String> {
    match result {
        vk::Result::SUCCESS => Ok(()),
        error => Err(format!("{what} failed: {error:?}")),
    }
}

impl<'a> Parts<'a> {
    fn create(setup: &Setup<'a>, extra: Extra<'_>) -> Result<Self, String> {
        let next = setup.next;
        let mut parts = Self {
            device: setup.device,
            next,
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            kind: None,
        };
        let mut capture =
            vk::BufferOpaqueCaptureAddressCreateInfo::default().opaque_capture_address(extra.buffer_address);
        let mut info = vk::BufferCreateInfo::default()
            .flags(extra.buffer_flags)
            .size(u64::from(setup.bytes))
            .usage(USAGE);
        if setup.families.len() > 1 {
            info = info
                .sharing_mode(vk::SharingMode::CONCURRENT)
                .queue_family_indices(setup.families);
        }
        if extra.buffer_address != 0 {
            info = info.push_next(&mut capture);
        }
        #[cfg(unix)]
        let mut external = vk::ExternalMemoryBufferCreateInfo::default()
            .handle_types(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        #[cfg(unix)]
        if extra.import.is_some() {
            info = info.push_next(&mut external);
        }
        let create = next.vkCreateBuffer.ok_or_else(missing)?;
        check(
            // SAFETY: the structures live until the call returns.
            unsafe { create(setup.device, &info, ptr::null(), &mut parts.buffer) },
            "vkCreateBuffer",
        )?;
        let mut requirements = vk::MemoryRequirements::default();
        let require = next.vkGetBufferMemoryRequirements.ok_or_else(missing)?;
        // SAFETY: the buffer was just made.
        unsafe { require(setup.device, parts.buffer, &mut requirements) };

        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(extra.allocate_flags);
        let mut opaque =
            vk::MemoryOpaqueCaptureAddressAllocateInfo::default().opaque_capture_address(extra.memory_address);
        let mut allocate = vk::MemoryAllocateInfo::default().allocation_size(requirements.size);
        if setup.api == AddressApi::Khr {
            flags.flags |= vk::MemoryAllocateFlags::DEVICE_ADDRESS;
            allocate = allocate.push_next(&mut flags);
        }
        if extra.memory_address != 0 {
            allocate = allocate.push_next(&mut opaque);
        }
        let mut types = requirements.memory_type_bits;
        #[cfg(unix)]
        let mut imported = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        #[cfg(unix)]
        if let Some(place) = extra.import {
            let mapping = host::Mapping::at_fixed_place(requirements.size).ok_or("the fixed places are taken")?;
            types &= host::memory_types(setup, &mapping).ok_or("host memory cannot be imported")?;
            imported = imported.host_pointer(mapping.base().as_ptr().cast());
            allocate.allocation_size = mapping.bytes();
            allocate = allocate.push_next(&mut imported);
            *place = Some(mapping);
        }
        allocate.memory_type_index =
            memory_type(&setup.memory, types).ok_or("no memory type is host-visible and coherent")?;
        let kind = setup
            .memory
            .memory_types_as_slice()
            .get(allocate.memory_type_index as usize);
        parts.kind = kind.map(|kind| (allocate.memory_type_index, kind.property_flags));
        let allocate_memory = next.vkAllocateMemory.ok_or_else(missing)?;
        check(
            // SAFETY: the structures live until the call returns.
            unsafe { allocate_memory(setup.device, &allocate, ptr::null(), &mut parts.memory) },
            "vkAllocateMemory",
        )?;
        let bind = next.vkBindBufferMemory.ok_or_else(missing)?;
        check(
            // SAFETY: both were just made for each other.
            unsafe { bind(setup.device, parts.buffer, parts.memory, 0) },
            "vkBindBufferMemory",
        )?;
        Ok(parts)
    }

    fn address(&self, setup: &Setup<'_>) -> Result<u64, String> {
        let next = setup.next;
        let get = match setup.api {
            AddressApi::Khr => next.vkGetBufferDeviceAddress.or(next.vkGetBufferDeviceAddressKHR),
            AddressApi::Ext => next.vkGetBufferDeviceAddressEXT,
        };
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.buffer);
        // SAFETY: the buffer was made with that usage, and its feature is on.
        let address = get.map(|f| unsafe { f(setup.device, &info) }).ok_or_else(missing)?;
        if address == 0 || address % 16 != 0 {
            return Err(format!("the driver gave the buffer the address {address:#x}"));
        }
        Ok(address)
    }

    /// Maps the memory, zeroes it and makes it an arena.
    fn finish(self, setup: &Setup<'_>, address: u64, source: Source) -> Result<Arena, String> {
        let map = setup.next.vkMapMemory.ok_or_else(missing)?;
        let mut base = ptr::null_mut();
        check(
            // SAFETY: the memory is host-visible and was just made.
            unsafe {
                map(
                    setup.device,
                    self.memory,
                    0,
                    vk::WHOLE_SIZE,
                    vk::MemoryMapFlags::empty(),
                    &mut base,
                )
            },
            "vkMapMemory",
        )?;
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(missing)?;
        // SAFETY: the mapping has at least the buffer's bytes, and nobody else knows it yet.
        unsafe { base.as_ptr().write_bytes(0, setup.bytes as usize) };
        Ok(self.into_arena(setup, base, address, source))
    }

    fn into_arena(mut self, setup: &Setup<'_>, base: NonNull<u8>, address: u64, source: Source) -> Arena {
        Arena {
            buffer: std::mem::take(&mut self.buffer),
            memory: std::mem::take(&mut self.memory),
            base,
            bytes: setup.bytes,
            address,
            source,
            kind: self.kind,
            #[cfg(unix)]
            host: None,
            slot: None,
        }
    }
}

/// The best of the allowed memory types: cached if possible, and in host memory rather than where a reset of the GPU
/// can lose it.
fn memory_type(memory: &vk::PhysicalDeviceMemoryProperties, allowed: u32) -> Option<u32> {
    let needed = Property::HOST_VISIBLE | Property::HOST_COHERENT;
    // These need a feature or an extension that is not turned on.
    let excluded = Property::PROTECTED | Property::DEVICE_COHERENT_AMD | Property::DEVICE_UNCACHED_AMD;
    memory
        .memory_types_as_slice()
        .iter()
        .enumerate()
        .filter(|(index, _)| allowed >> index & 1 == 1)
        .filter(|(_, kind)| kind.property_flags.contains(needed) && !kind.property_flags.intersects(excluded))
        .max_by_key(|(index, kind)| {
            let flags = kind.property_flags;
            (
                !flags.contains(Property::DEVICE_LOCAL),
                flags.contains(Property::HOST_CACHED),
                std::cmp::Reverse(*index),
            )
        })
        .and_then(|(index, _)| u32::try_from(index).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arena_goes_to_coherent_cached_host_memory_if_there_is_any() {
        let mut memory = vk::PhysicalDeviceMemoryProperties::default();
        let visible = Property::HOST_VISIBLE | Property::HOST_COHERENT;
        let kinds = [
            Property::DEVICE_LOCAL,
            Property::DEVICE_LOCAL | visible,
            visible,
            visible | Property::HOST_CACHED,
            visible | Property::HOST_CACHED | Property::DEVICE_COHERENT_AMD,
            Property::HOST_VISIBLE | Property::HOST_CACHED,
        ];
        for (kind, flags) in memory.memory_types.iter_mut().zip(kinds) {
            kind.property_flags = flags;
        }
        memory.memory_type_count = kinds.len() as u32;
        assert_eq!(memory_type(&memory, u32::MAX), Some(3));
        assert_eq!(memory_type(&memory, 0b111), Some(2));
        assert_eq!(memory_type(&memory, 0b11), Some(1));
        assert_eq!(memory_type(&memory, 0b110001), None);
    }
}
