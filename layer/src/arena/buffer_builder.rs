//! A buffer with an address, in mapped memory: what an arena is made of.

use super::memory::Choice;
use super::{AddressApi, Setup, USAGE, check, missing};
use crate::loader::dispatch::DeviceTable;
use ash::vk;
use std::ptr::{self, NonNull};

/// What the buffer and its memory are created with beside the ordinary.
#[derive(Default)]
pub struct Extra<'a> {
    pub buffer_flags: vk::BufferCreateFlags,
    pub allocate_flags: vk::MemoryAllocateFlags,
    pub buffer_address: u64,
    pub memory_address: u64,
    #[cfg(unix)]
    pub import: Option<&'a mut Option<super::host::Mapping>>,
    #[cfg(not(unix))]
    pub import: std::marker::PhantomData<&'a ()>,
}

/// What could not be made.
#[derive(Debug)]
pub struct Refused {
    /// What the driver said, if it was the driver.
    pub result: vk::Result,
    /// In words.
    pub reason: String,
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self {
            result: vk::Result::ERROR_UNKNOWN,
            reason,
        }
    }
}

impl From<&str> for Refused {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

/// A buffer with its memory. Destroyed when dropped.
pub struct PendingBuffer<'a> {
    device: vk::Device,
    next: &'a DeviceTable,
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Its memory, nothing else in it.
    pub memory: vk::DeviceMemory,
    bytes: u32,
    choice: Option<Choice>,
    /// Where it is mapped.
    pub base: Option<NonNull<u8>>,
}

impl Drop for PendingBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing was submitted yet; null is allowed.
        unsafe { destroy(self.device, self.next, self.buffer, self.memory) };
    }
}

/// # Safety
/// Nothing may use the two any more. Null is allowed.
unsafe fn destroy(device: vk::Device, next: &DeviceTable, buffer: vk::Buffer, memory: vk::DeviceMemory) {
    // SAFETY: the caller vouches that nothing uses them.
    unsafe {
        if let Some(f) = next.vkDestroyBuffer {
            f(device, buffer, ptr::null());
        }
        if let Some(f) = next.vkFreeMemory {
            f(device, memory, ptr::null());
        }
    }
}

impl<'a> PendingBuffer<'a> {
    /// A buffer of so many bytes, in memory of the type that `choose` says, given those that the buffer can be in.
    pub fn create(
        setup: &Setup<'a>,
        bytes: u32,
        extra: Extra<'_>,
        choose: impl FnOnce(u32) -> Result<Choice, String>,
    ) -> Result<Self, Refused> {
        let next = setup.next;
        let mut parts = Self {
            device: setup.device,
            next,
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            bytes,
            choice: None,
            base: None,
        };
        let mut capture =
            vk::BufferOpaqueCaptureAddressCreateInfo::default().opaque_capture_address(extra.buffer_address);
        let mut info = vk::BufferCreateInfo::default()
            .flags(extra.buffer_flags)
            .size(u64::from(bytes))
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
        #[cfg(unix)]
        let mut imported = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        #[cfg(unix)]
        if let Some(place) = extra.import {
            let mapping =
                super::host::Mapping::at_fixed_place(requirements.size).ok_or("the fixed places are taken")?;
            requirements.memory_type_bits &=
                super::host::memory_types(setup, &mapping).ok_or("host memory cannot be imported")?;
            imported = imported.host_pointer(mapping.base().as_ptr().cast());
            allocate.allocation_size = mapping.bytes();
            allocate = allocate.push_next(&mut imported);
            *place = Some(mapping);
        }
        let choice = choose(requirements.memory_type_bits)?;
        allocate.memory_type_index = choice.index;
        parts.choice = Some(choice);
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

    /// The memory type, and why.
    pub fn choice(&self) -> Option<Choice> {
        self.choice
    }

    /// The buffer's device address.
    pub fn address(&self, setup: &Setup<'_>) -> Result<u64, Refused> {
        let next = setup.next;
        let get = match setup.api {
            AddressApi::Khr => next.vkGetBufferDeviceAddress.or(next.vkGetBufferDeviceAddressKHR),
            AddressApi::Ext => next.vkGetBufferDeviceAddressEXT,
        };
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.buffer);
        // SAFETY: the buffer was made with that usage, and its feature is on.
        let address = get.map(|f| unsafe { f(setup.device, &info) }).ok_or_else(missing)?;
        if address == 0 || address % 16 != 0 {
            return Err(format!("the driver gave the buffer the address {address:#x}").into());
        }
        Ok(address)
    }

    /// Maps the memory and zeroes it.
    pub fn map(&mut self, setup: &Setup<'_>) -> Result<(), Refused> {
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
        unsafe { base.as_ptr().write_bytes(0, self.bytes as usize) };
        self.base = Some(base);
        Ok(())
    }

    /// A block, once it is mapped and its address is known.
    pub fn into_block(mut self, setup: &Setup<'_>) -> Result<Block, Refused> {
        let address = self.address(setup)?;
        let base = self.base.ok_or("the memory is not mapped")?;
        Ok(Block {
            buffer: std::mem::take(&mut self.buffer),
            memory: std::mem::take(&mut self.memory),
            base,
            address,
            choice: self.choice,
        })
    }
}

/// Mapped memory that shaders reach at an address.
pub struct Block {
    /// Null where the memory is the layer's own.
    pub buffer: vk::Buffer,
    /// Null as well.
    pub memory: vk::DeviceMemory,
    /// Its first byte.
    pub base: NonNull<u8>,
    /// Its first byte, for shaders.
    pub address: u64,
    /// The driver's memory type; none where the memory is the layer's own.
    pub choice: Option<Choice>,
}

impl Block {
    /// Frees the buffer and its memory.
    ///
    /// # Safety
    /// The GPU must not use them any more.
    pub unsafe fn destroy(self, device: vk::Device, next: &DeviceTable) {
        // SAFETY: the caller vouches that nothing uses them; both are ours.
        unsafe { destroy(device, next, self.buffer, self.memory) };
    }

    /// What memory it is in and why, in words.
    pub fn describe(&self) -> String {
        match self.choice {
            Some(choice) => format!("memory type {} ({:?}), {}", choice.index, choice.flags, choice.why),
            None => "memory of the layer's own".to_owned(),
        }
    }
}
