//! Buffers and images with their memory.

use crate::device::Device;
use anyhow::{Context, Result};
use ash::vk;
use bytemuck::NoUninit;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::rc::Rc;

/// A buffer.
pub struct Buffer {
    device: Rc<Device>,
    /// The buffer.
    pub raw: vk::Buffer,
    allocation: Option<Allocation>,
}

impl Buffer {
    /// Creates a buffer of `size` bytes.
    pub fn new(
        device: &Rc<Device>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: `info` is valid for the call.
        let raw = unsafe { device.raw.create_buffer(&info, None) }?;
        let mut buffer = Self {
            device: device.clone(),
            raw,
            allocation: None,
        };
        // SAFETY: the buffer is of this device.
        let requirements = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let allocation = buffer
            .allocation
            .insert(device.allocate(name, requirements, location, true)?);
        // SAFETY: the memory is of this device, large enough and aligned, and not used by another object.
        unsafe {
            device
                .raw
                .bind_buffer_memory(raw, allocation.memory(), allocation.offset())
        }?;
        Ok(buffer)
    }

    /// Creates a buffer with this data, in memory that the host can write. The data is small and read once a frame, so
    /// that a copy in the GPU's memory would gain nothing.
    pub fn with_data<T: NoUninit>(
        device: &Rc<Device>,
        name: &str,
        usage: vk::BufferUsageFlags,
        data: &[T],
    ) -> Result<Self> {
        let size = size_of_val(data) as u64;
        let mut buffer = Self::new(device, name, size, usage, MemoryLocation::CpuToGpu)?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// Overwrites the start of the buffer. The device must not be using it.
    pub fn write<T: NoUninit>(&mut self, data: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let mapped = self.allocation.as_mut().and_then(Allocation::mapped_slice_mut);
        mapped
            .and_then(|mapped| mapped.get_mut(..bytes.len()))
            .context("the data does not fit into the buffer")?
            .copy_from_slice(bytes);
        Ok(())
    }

    /// The contents, if the host can read them. The device must not be writing to it.
    pub fn bytes(&self) -> Result<&[u8]> {
        let mapped = self.allocation.as_ref().and_then(Allocation::mapped_slice);
        mapped.context("the buffer's memory is not mapped")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the renderer has waited for the device, or the device is lost.
        unsafe { self.device.raw.destroy_buffer(self.raw, None) };
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
    }
}

/// An image of one level and layer, with a view of it.
pub struct Image {
    device: Rc<Device>,
    /// The image.
    pub raw: vk::Image,
    /// A view of the whole image.
    pub view: vk::ImageView,
    /// Its size in texels.
    pub extent: vk::Extent2D,
    allocation: Option<Allocation>,
}

impl Image {
    /// Creates an image in memory of the GPU.
    pub fn new(
        device: &Rc<Device>,
        name: &str,
        format: vk::Format,
        extent: vk::Extent2D,
        usage: vk::ImageUsageFlags,
    ) -> Result<Self> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        // SAFETY: `info` is valid for the call.
        let raw = unsafe { device.raw.create_image(&info, None) }?;
        let mut image = Self {
            device: device.clone(),
            raw,
            view: vk::ImageView::null(),
            extent,
            allocation: None,
        };
        // SAFETY: the image is of this device.
        let requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
        let allocation = device.allocate(name, requirements, MemoryLocation::GpuOnly, false)?;
        let allocation = image.allocation.insert(allocation);
        // SAFETY: the memory is of this device, large enough and aligned, and not used by another object.
        unsafe {
            device
                .raw
                .bind_image_memory(raw, allocation.memory(), allocation.offset())
        }?;
        let aspect = match usage.contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT) {
            true => vk::ImageAspectFlags::DEPTH,
            false => vk::ImageAspectFlags::COLOR,
        };
        image.view = view(device, raw, format, aspect)?;
        Ok(image)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the renderer has waited for the device, or the device is lost. Destroying a null handle is allowed.
        unsafe {
            self.device.raw.destroy_image_view(self.view, None);
            self.device.raw.destroy_image(self.raw, None);
        }
        if let Some(allocation) = self.allocation.take() {
            self.device.free(allocation);
        }
    }
}

/// Creates a view of the whole image.
pub fn view(
    device: &Device,
    image: vk::Image,
    format: vk::Format,
    aspect: vk::ImageAspectFlags,
) -> Result<vk::ImageView> {
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(whole(aspect));
    // SAFETY: the image is of this device and of this format.
    Ok(unsafe { device.raw.create_image_view(&info, None) }?)
}

/// The only level and layer of an image.
pub fn whole(aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default()
        .aspect_mask(aspect)
        .level_count(1)
        .layer_count(1)
}
