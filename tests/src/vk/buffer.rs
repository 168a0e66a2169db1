//! A buffer of 32-bit words that the host sees all the time.

use super::Device;
use anyhow::Result;
use ash::vk;

/// A mapped buffer.
pub struct Buffer<'device> {
    device: &'device Device<'device>,
    /// The buffer.
    pub raw: vk::Buffer,
    /// How a shader sees it.
    pub kind: vk::DescriptorType,
    memory: vk::DeviceMemory,
    words: *mut u32,
    count: usize,
}

impl<'device> Buffer<'device> {
    /// A storage buffer with these words.
    ///
    /// # Errors
    ///
    /// The buffer cannot be made.
    pub fn storage(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        Self::new(
            device,
            words,
            vk::DescriptorType::STORAGE_BUFFER,
            vk::BufferUsageFlags::STORAGE_BUFFER,
        )
    }

    /// A uniform buffer with these words.
    ///
    /// # Errors
    ///
    /// The buffer cannot be made.
    pub fn uniform(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        Self::new(
            device,
            words,
            vk::DescriptorType::UNIFORM_BUFFER,
            vk::BufferUsageFlags::UNIFORM_BUFFER,
        )
    }

    /// A buffer that images are copied to.
    ///
    /// # Errors
    ///
    /// The buffer cannot be made.
    pub fn copy_target(device: &'device Device<'device>, words: &[u32]) -> Result<Self> {
        Self::new(
            device,
            words,
            vk::DescriptorType::STORAGE_BUFFER,
            vk::BufferUsageFlags::TRANSFER_DST,
        )
    }

    fn new(
        device: &'device Device<'device>,
        words: &[u32],
        kind: vk::DescriptorType,
        usage: vk::BufferUsageFlags,
    ) -> Result<Self> {
        let info = vk::BufferCreateInfo::default()
            .size(words.len() as u64 * 4)
            .usage(usage);
        let mut buffer = Self {
            device,
            raw: vk::Buffer::null(),
            kind,
            memory: vk::DeviceMemory::null(),
            words: std::ptr::null_mut(),
            count: words.len(),
        };
        // SAFETY: the handles belong to this device, the structures are valid, and the mapping covers the words.
        unsafe {
            buffer.raw = device.raw.create_buffer(&info, None)?;
            let needs = device.raw.get_buffer_memory_requirements(buffer.raw);
            let kind = device.host_memory(needs.memory_type_bits)?;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind);
            buffer.memory = device.raw.allocate_memory(&info, None)?;
            device.raw.bind_buffer_memory(buffer.raw, buffer.memory, 0)?;
            let mapped = device
                .raw
                .map_memory(buffer.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            buffer.words = mapped.cast();
            buffer.words.copy_from_nonoverlapping(words.as_ptr(), words.len());
        }
        Ok(buffer)
    }

    /// What it holds now.
    pub fn read(&self) -> Vec<u32> {
        // SAFETY: the mapping covers `count` words and lives as long as `self`.
        (0..self.count)
            .map(|i| unsafe { self.words.add(i).read_volatile() })
            .collect()
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: submissions that use the buffer are over: the cases wait for them, or the device is lost.
        unsafe {
            self.device.raw.destroy_buffer(self.raw, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}
