//! Creates a buffer with a device address, in mapped memory.

use super::mapped_buffer::{self, FixedMapping, MappedBuffer};
use super::memory_type::MemoryChoice;
use super::setup::{AddressApi, ArenaSetup, CreateError, USAGE, check, require};
use crate::loader::dispatch::DeviceTable;
use ash::vk;
use std::ptr::{self, NonNull};

/// Flags, addresses and memory of a buffer beyond the defaults.
#[derive(Clone, Copy, Default)]
pub struct BufferRequest {
    pub buffer_flags: vk::BufferCreateFlags,
    pub allocate_flags: vk::MemoryAllocateFlags,
    /// Besides [`USAGE`].
    pub usage: vk::BufferUsageFlags,
    /// Opaque capture address of the buffer; 0 for any.
    pub buffer_address: u64,
    /// Opaque capture address of the memory; 0 for any.
    pub memory_address: u64,
    /// Imports host memory at a fixed address.
    pub import: bool,
}

/// A buffer under construction. Destroyed when dropped.
pub struct PendingBuffer<'a> {
    device: vk::Device,
    next: &'a DeviceTable,
    pub buffer: vk::Buffer,
    /// Contains nothing but the buffer.
    pub memory: vk::DeviceMemory,
    bytes: u32,
    pub choice: Option<MemoryChoice>,
    /// Host address of the first byte, once the memory is mapped or imported.
    pub base: Option<NonNull<u8>>,
    /// Imported memory. Declared last: unmapped after `drop` has freed the driver's memory object.
    mapping: Option<FixedMapping>,
}

impl Drop for PendingBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: both were created on `device`, and no work that uses them was submitted. Null is allowed.
        unsafe { mapped_buffer::destroy(self.device, self.next, self.buffer, self.memory) };
    }
}

impl<'a> PendingBuffer<'a> {
    /// Creates a buffer of `bytes` bytes and binds it to memory of the type that `choose` selects from a bit mask of types.
    ///
    /// # Errors
    /// A Vulkan call failed, or no memory type is suitable.
    pub fn create(
        setup: &ArenaSetup<'a>,
        bytes: u32,
        request: BufferRequest,
        choose: impl FnOnce(u32) -> Result<MemoryChoice, String>,
    ) -> Result<Self, CreateError> {
        let mut pending = Self {
            device: setup.device,
            next: setup.next,
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            bytes,
            choice: None,
            base: None,
            mapping: None,
        };
        let requirements = pending.create_buffer(setup.families, &request)?;
        pending.allocate(setup.api, &request, requirements, choose)?;
        let bind = require(setup.next.vkBindBufferMemory, "vkBindBufferMemory")?;
        check(
            // SAFETY: the memory was allocated for this buffer, and neither is bound yet.
            unsafe { bind(setup.device, pending.buffer, pending.memory, 0) },
            "vkBindBufferMemory",
        )?;
        Ok(pending)
    }

    fn create_buffer(
        &mut self,
        families: &[u32],
        request: &BufferRequest,
    ) -> Result<vk::MemoryRequirements, CreateError> {
        let mut capture =
            vk::BufferOpaqueCaptureAddressCreateInfo::default().opaque_capture_address(request.buffer_address);
        let mut external = vk::ExternalMemoryBufferCreateInfo::default()
            .handle_types(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        let mut info = vk::BufferCreateInfo::default()
            .flags(request.buffer_flags)
            .size(u64::from(self.bytes))
            .usage(USAGE | request.usage);
        if families.len() > 1 {
            info = info
                .sharing_mode(vk::SharingMode::CONCURRENT)
                .queue_family_indices(families);
        }
        if request.buffer_address != 0 {
            info = info.push_next(&mut capture);
        }
        if request.import {
            info = info.push_next(&mut external);
        }
        let create = require(self.next.vkCreateBuffer, "vkCreateBuffer")?;
        check(
            // SAFETY: the device is valid, and the structures outlive the call.
            unsafe { create(self.device, &info, ptr::null(), &mut self.buffer) },
            "vkCreateBuffer",
        )?;
        let get = require(self.next.vkGetBufferMemoryRequirements, "vkGetBufferMemoryRequirements")?;
        let mut requirements = vk::MemoryRequirements::default();
        // SAFETY: the buffer was created on this device.
        unsafe { get(self.device, self.buffer, &mut requirements) };
        Ok(requirements)
    }

    fn allocate(
        &mut self,
        api: AddressApi,
        request: &BufferRequest,
        mut requirements: vk::MemoryRequirements,
        choose: impl FnOnce(u32) -> Result<MemoryChoice, String>,
    ) -> Result<(), CreateError> {
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(request.allocate_flags);
        let mut capture =
            vk::MemoryOpaqueCaptureAddressAllocateInfo::default().opaque_capture_address(request.memory_address);
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        let mut info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size);
        if api == AddressApi::Khr {
            flags.flags |= vk::MemoryAllocateFlags::DEVICE_ADDRESS;
            info = info.push_next(&mut flags);
        }
        if request.memory_address != 0 {
            info = info.push_next(&mut capture);
        }
        if request.import {
            let mapping = FixedMapping::new(requirements.size).ok_or("all fixed addresses are in use")?;
            let importable = self.importable_types(&mapping);
            requirements.memory_type_bits &= importable.ok_or("host memory cannot be imported")?;
            import = import.host_pointer(mapping.base.as_ptr().cast());
            info = info.allocation_size(mapping.bytes).push_next(&mut import);
            self.base = Some(mapping.base);
            self.mapping = Some(mapping);
        }
        let choice = choose(requirements.memory_type_bits)?;
        info.memory_type_index = choice.index;
        self.choice = Some(choice);
        let allocate = require(self.next.vkAllocateMemory, "vkAllocateMemory")?;
        check(
            // SAFETY: the device is valid, and the structures and the imported pages outlive the call.
            unsafe { allocate(self.device, &info, ptr::null(), &mut self.memory) },
            "vkAllocateMemory",
        )
    }

    /// Bit mask of the memory types that the mapping can be imported as.
    fn importable_types(&self, mapping: &FixedMapping) -> Option<u32> {
        let get = self.next.vkGetMemoryHostPointerPropertiesEXT?;
        let handle_type = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the extension is enabled, and the pages are mapped.
        let result = unsafe { get(self.device, handle_type, mapping.base.as_ptr().cast(), &mut properties) };
        (result == vk::Result::SUCCESS).then_some(properties.memory_type_bits)
    }

    /// The buffer's device address.
    ///
    /// # Errors
    /// The driver lacks the function, or the address is null or not a multiple of 16.
    pub fn address(&self, api: AddressApi) -> Result<u64, CreateError> {
        let get = require(api.function(self.next), "vkGetBufferDeviceAddress")?;
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.buffer);
        // SAFETY: the buffer has the usage SHADER_DEVICE_ADDRESS, and the feature is enabled.
        let address = unsafe { get(self.device, &info) };
        if address == 0 || address % 16 != 0 {
            return Err(format!("the driver returned the buffer address {address:#x}, which is not usable").into());
        }
        Ok(address)
    }

    /// Maps the memory and zeroes its first `zeroed` bytes. Others stay as they are, so that they need no pages yet.
    ///
    /// # Errors
    /// `vkMapMemory` is missing or failed.
    pub fn map(&mut self, zeroed: u32) -> Result<(), CreateError> {
        let map = require(self.next.vkMapMemory, "vkMapMemory")?;
        let flags = vk::MemoryMapFlags::empty();
        let mut base = ptr::null_mut();
        check(
            // SAFETY: the memory is host-visible and not mapped yet.
            unsafe { map(self.device, self.memory, 0, vk::WHOLE_SIZE, flags, &mut base) },
            "vkMapMemory",
        )?;
        let base = NonNull::new(base.cast::<u8>()).ok_or("vkMapMemory returned null")?;
        // SAFETY: the mapping covers the whole buffer, and nothing else accesses the memory yet.
        unsafe { base.as_ptr().write_bytes(0, zeroed.min(self.bytes) as usize) };
        self.base = Some(base);
        Ok(())
    }

    /// Completes the buffer.
    ///
    /// # Errors
    /// The buffer has no usable address or is not mapped.
    pub fn finish(mut self, api: AddressApi) -> Result<MappedBuffer, CreateError> {
        Ok(MappedBuffer {
            address: self.address(api)?,
            base: self.base.ok_or("the memory is not mapped")?,
            choice: self.choice,
            buffer: std::mem::take(&mut self.buffer),
            memory: std::mem::take(&mut self.memory),
            mapping: self.mapping.take(),
        })
    }
}
