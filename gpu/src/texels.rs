//! An image that shaders read and store to.

use crate::{Device, Submission};
use anyhow::{Result, ensure};
use ash::vk;

/// An image of words (`R32_UINT`) in the layout `GENERAL`, for texel fetches, loads, stores and atomics.
pub struct Texels<'device> {
    device: &'device Device<'device>,
    raw: vk::Image,
    memory: vk::DeviceMemory,
    /// A view of all of it.
    pub view: vk::ImageView,
    /// A view of its first level.
    pub first_level: vk::ImageView,
}

/// Size of an image.
#[derive(Clone, Copy, Debug)]
pub struct TexelsSize {
    /// Width, height and depth.
    pub extent: [u32; 3],
    /// Levels.
    pub levels: u32,
    /// Layers.
    pub layers: u32,
    /// The kind of its view, which decides that of the image.
    pub view: vk::ImageViewType,
}

impl<'device> Texels<'device> {
    /// Creates an image whose texels have no value.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn new(device: &'device Device<'device>, size: TexelsSize) -> Result<Self> {
        use vk::ImageViewType as View;
        let mut image = Self {
            device,
            raw: vk::Image::null(),
            memory: vk::DeviceMemory::null(),
            view: vk::ImageView::null(),
            first_level: vk::ImageView::null(),
        };
        let (kind, flags) = match size.view {
            View::TYPE_1D => (vk::ImageType::TYPE_1D, vk::ImageCreateFlags::empty()),
            View::TYPE_3D => (vk::ImageType::TYPE_3D, vk::ImageCreateFlags::empty()),
            View::CUBE | View::CUBE_ARRAY => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::CUBE_COMPATIBLE),
            _ => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::empty()),
        };
        let [width, height, depth] = size.extent;
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(kind)
            .format(vk::Format::R32_UINT)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(size.levels)
            .array_layers(size.layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::SAMPLED);
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: size.levels,
            layer_count: size.layers,
            ..Default::default()
        };
        let raw = &device.raw;
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            image.raw = raw.create_image(&info, None)?;
            let needs = raw.get_image_memory_requirements(image.raw);
            let kind = device.device_memory(needs.memory_type_bits)?;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind);
            image.memory = raw.allocate_memory(&info, None)?;
            raw.bind_image_memory(image.raw, image.memory, 0)?;
            let view = |level_count| {
                let range = vk::ImageSubresourceRange { level_count, ..range };
                let info = vk::ImageViewCreateInfo::default()
                    .image(image.raw)
                    .view_type(size.view)
                    .format(vk::Format::R32_UINT)
                    .subresource_range(range);
                raw.create_image_view(&info, None)
            };
            let views = (view(size.levels), view(1));
            (image.view, image.first_level) = (views.0?, views.1?);
        }
        let submission = Submission::record(device, |raw, commands| {
            let barrier = vk::ImageMemoryBarrier::default()
                .image(image.raw)
                .subresource_range(range)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .new_layout(vk::ImageLayout::GENERAL)
                .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE);
            let stages = [
                vk::PipelineStageFlags::TOP_OF_PIPE,
                vk::PipelineStageFlags::COMPUTE_SHADER,
            ];
            let none = vk::DependencyFlags::empty();
            // SAFETY: the command buffer is being recorded, and the image outlives its use.
            unsafe { raw.cmd_pipeline_barrier(commands, stages[0], stages[1], none, &[], &[], &[barrier]) };
        })?;
        let result = submission.run();
        ensure!(result == vk::Result::SUCCESS, "the layout of the image: {result}");
        Ok(image)
    }
}

impl Drop for Texels<'_> {
    fn drop(&mut self) {
        // SAFETY: no submission uses the image: the cases wait for them, or the device is lost.
        unsafe {
            self.device.raw.destroy_image_view(self.first_level, None);
            self.device.raw.destroy_image_view(self.view, None);
            self.device.raw.destroy_image(self.raw, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}
