//! A persistently mapped buffer of 32-bit words.

use crate::Device;
use anyhow::{Context, Result};
use ash::vk::{self, BufferUsageFlags as Usage, DescriptorType as Kind, MemoryPropertyFlags as Property};

/// A mapped buffer.
pub struct Buffer<'device> {
    device: &'device Device<'device>,
    /// The buffer.
    pub raw: vk::Buffer,
    /// Descriptor type.
    pub kind: Kind,
    /// View of a texel buffer; else null.
    pub view: vk::BufferView,
    memory: vk::DeviceMemory,
    words: *mut u32,
    count: usize,
}

impl<'device> Buffer<'device> {
    /// Creates a storage buffer with these words.
    ///
    /// # Errors
    ///
    /// The buffer cannot be created.
    pub fn storage(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        Self::new(device, words, Kind::STORAGE_BUFFER, Usage::STORAGE_BUFFER)
    }

    /// Creates a storage buffer in host-visible device memory, if available, so that benchmarks do not measure the bus.
    ///
    /// # Errors
    ///
    /// The buffer cannot be created.
    pub fn near(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        Self::placed(
            device,
            words,
            Kind::STORAGE_BUFFER,
            Usage::STORAGE_BUFFER,
            Property::DEVICE_LOCAL,
        )
    }

    /// Creates a uniform buffer with these words.
    ///
    /// # Errors
    ///
    /// The buffer cannot be created.
    pub fn uniform(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        Self::new(device, words, Kind::UNIFORM_BUFFER, Usage::UNIFORM_BUFFER)
    }

    /// Creates a destination buffer for image copies.
    ///
    /// # Errors
    ///
    /// The buffer cannot be created.
    pub fn copy_target(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        Self::new(device, words, Kind::STORAGE_BUFFER, Usage::TRANSFER_DST)
    }

    /// Creates a storage texel buffer of 32-bit texels.
    ///
    /// # Errors
    ///
    /// The buffer cannot be created.
    pub fn texels(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        let kind = Kind::STORAGE_TEXEL_BUFFER;
        let mut buffer = Self::new(device, words, kind, Usage::STORAGE_TEXEL_BUFFER)?;
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffer.raw)
            .format(vk::Format::R32_UINT)
            .range(vk::WHOLE_SIZE);
        // SAFETY: the buffer was created with the usage for texel buffer views.
        buffer.view = unsafe { device.raw.create_buffer_view(&info, None) }?;
        Ok(buffer)
    }

    /// Creates a buffer with a device address and this usage. The device needs `bufferDeviceAddress`.
    ///
    /// # Errors
    ///
    /// The buffer cannot be created.
    pub fn addressed(device: &'device Device<'device>, words: &[u32], usage: Usage) -> Result<Self> {
        Self::new(
            device,
            words,
            Kind::STORAGE_BUFFER,
            usage | Usage::SHADER_DEVICE_ADDRESS,
        )
    }

    /// Creates a buffer with a device address and a usage that only `VkBufferUsageFlags2CreateInfo` has. The device needs
    /// `bufferDeviceAddress` and `VK_KHR_maintenance5`.
    ///
    /// # Errors
    ///
    /// The buffer cannot be created.
    pub fn addressed_with(
        device: &'device Device<'device>,
        words: &[u32],
        usage: vk::BufferUsageFlags2KHR,
    ) -> Result<Self> {
        let usage = usage | vk::BufferUsageFlags2KHR::SHADER_DEVICE_ADDRESS;
        let mut usage = vk::BufferUsageFlags2CreateInfoKHR::default().usage(usage);
        let info = vk::BufferCreateInfo::default()
            .usage(Usage::SHADER_DEVICE_ADDRESS)
            .push_next(&mut usage);
        Self::created(device, words, Kind::STORAGE_BUFFER, info, Property::empty())
    }

    /// Device address of a buffer created by [`addressed`](Self::addressed).
    pub fn address(&self) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: `addressed` created the buffer with the usage for device addresses.
        unsafe { self.device.raw.get_buffer_device_address(&info) }
    }

    fn new(device: &'device Device<'device>, words: &[u32], kind: Kind, usage: Usage) -> Result<Self> {
        Self::placed(device, words, kind, usage, Property::empty())
    }

    fn placed(
        device: &'device Device<'device>,
        words: &[u32],
        kind: Kind,
        usage: Usage,
        best: Property,
    ) -> Result<Self> {
        Self::created(device, words, kind, vk::BufferCreateInfo::default().usage(usage), best)
    }

    /// Creates the buffer of `info` with the size of the words.
    fn created(
        device: &'device Device<'device>,
        words: &[u32],
        kind: Kind,
        info: vk::BufferCreateInfo<'_>,
        best: Property,
    ) -> Result<Self> {
        let info = info.size(words.len() as u64 * 4);
        let addressed = info.usage.contains(Usage::SHADER_DEVICE_ADDRESS);
        let mut buffer = Self {
            device,
            raw: vk::Buffer::null(),
            kind,
            view: vk::BufferView::null(),
            memory: vk::DeviceMemory::null(),
            words: std::ptr::null_mut(),
            count: words.len(),
        };
        // SAFETY: the handles belong to this device, the structures are valid, and the mapping covers the words.
        unsafe {
            buffer.raw = device.raw.create_buffer(&info, None).context("vkCreateBuffer")?;
            let needs = device.raw.get_buffer_memory_requirements(buffer.raw);
            let kind = device.host_memory(needs.memory_type_bits, best)?;
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let mut info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind);
            if addressed {
                info = info.push_next(&mut flags);
            }
            buffer.memory = device.raw.allocate_memory(&info, None).context("vkAllocateMemory")?;
            let bound = device.raw.bind_buffer_memory(buffer.raw, buffer.memory, 0);
            bound.context("vkBindBufferMemory")?;
            let flags = vk::MemoryMapFlags::empty();
            let mapped = device.raw.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags);
            let mapped = mapped.context("vkMapMemory")?;
            buffer.words = mapped.cast();
            buffer.words.copy_from_nonoverlapping(words.as_ptr(), words.len());
        }
        Ok(buffer)
    }

    /// Writes words to the start of the buffer.
    pub fn write(&self, words: &[u32]) {
        let count = words.len().min(self.count);
        // SAFETY: the mapping covers `count` words and lives as long as `self`.
        unsafe { self.words.copy_from_nonoverlapping(words.as_ptr(), count) };
    }

    /// Reads the buffer.
    pub fn read(&self) -> Vec<u32> {
        // SAFETY: the mapping covers `count` words and lives as long as `self`.
        (0..self.count)
            .map(|i| unsafe { self.words.add(i).read_volatile() })
            .collect()
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: no submission uses the buffer: the cases wait for them, or the device is lost.
        unsafe {
            self.device.raw.destroy_buffer_view(self.view, None);
            self.device.raw.destroy_buffer(self.raw, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}
