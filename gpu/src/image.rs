//! A small colour image with a readback buffer.

use crate::{Buffer, Device, Submission};
use anyhow::{Result, ensure};
use ash::vk;

/// Width and height of the image.
pub(super) const EXTENT: u32 = 64;
/// Format of the image: 8 bits per channel.
pub(super) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// The whole image.
pub(super) fn area() -> vk::Rect2D {
    vk::Rect2D {
        extent: vk::Extent2D {
            width: EXTENT,
            height: EXTENT,
        },
        ..Default::default()
    }
}

/// A colour image with a readback buffer.
pub struct Image<'device> {
    device: &'device Device<'device>,
    pub(super) raw: vk::Image,
    /// A view of it.
    pub view: vk::ImageView,
    memory: vk::DeviceMemory,
    pub(super) texels: Buffer<'device>,
}

impl<'device> Image<'device> {
    /// Width and height in texels.
    pub const EXTENT: u32 = EXTENT;

    /// Creates an image of 64 by 64 texels.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn new(device: &'device Device<'device>) -> Result<Self> {
        let mut image = Self {
            device,
            raw: vk::Image::null(),
            view: vk::ImageView::null(),
            memory: vk::DeviceMemory::null(),
            texels: Buffer::copy_target(device, &[0; (EXTENT * EXTENT) as usize])?,
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(FORMAT)
            .extent(vk::Extent3D {
                width: EXTENT,
                height: EXTENT,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
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
            let info = vk::ImageViewCreateInfo::default()
                .image(image.raw)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(FORMAT)
                .subresource_range(whole());
            image.view = raw.create_image_view(&info, None)?;
        }
        Ok(image)
    }

    /// Clears the image to black, records `draw` inside a dynamic rendering, and copies the texels to the buffer.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&self, draw: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<Submission<'device>> {
        Submission::record(self.device, |raw, commands| {
            let attachments = [vk::RenderingAttachmentInfo::default()
                .image_view(self.view)
                .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)];
            let info = vk::RenderingInfo::default()
                .render_area(area())
                .layer_count(1)
                .color_attachments(&attachments);
            use vk::{AccessFlags as Access, ImageLayout as Layout, PipelineStageFlags as Stage};
            let barrier = |from: (Layout, Access, Stage), to: (Layout, Access, Stage)| {
                let info = vk::ImageMemoryBarrier::default()
                    .image(self.raw)
                    .subresource_range(whole())
                    .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    .old_layout(from.0)
                    .src_access_mask(from.1)
                    .new_layout(to.0)
                    .dst_access_mask(to.1);
                // SAFETY: the command buffer is being recorded and the image outlives its use.
                unsafe {
                    raw.cmd_pipeline_barrier(commands, from.2, to.2, vk::DependencyFlags::empty(), &[], &[], &[info]);
                }
            };
            let new = (Layout::UNDEFINED, Access::empty(), Stage::TOP_OF_PIPE);
            let output = Stage::COLOR_ATTACHMENT_OUTPUT;
            let drawn = (Layout::COLOR_ATTACHMENT_OPTIMAL, Access::COLOR_ATTACHMENT_WRITE, output);
            let copied = (Layout::TRANSFER_SRC_OPTIMAL, Access::TRANSFER_READ, Stage::TRANSFER);
            barrier(new, drawn);
            // SAFETY: the command buffer is being recorded, and the image outlives its use.
            unsafe { raw.cmd_begin_rendering(commands, &info) };
            draw(raw, commands);
            // SAFETY: the command buffer is in the recording state, inside a rendering.
            unsafe { raw.cmd_end_rendering(commands) };
            barrier(drawn, copied);
            let region = vk::BufferImageCopy::default()
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    layer_count: 1,
                    ..Default::default()
                })
                .image_extent(vk::Extent3D {
                    width: EXTENT,
                    height: EXTENT,
                    depth: 1,
                });
            // SAFETY: the command buffer is in the recording state, and the buffer is large enough for all texels.
            unsafe { raw.cmd_copy_image_to_buffer(commands, self.raw, copied.0, self.texels.raw, &[region]) };
        })
    }

    /// The texel at a column and a row as RGBA.
    pub fn texel(&self, x: u32, y: u32) -> [u8; 4] {
        self.texels
            .read()
            .get((y * EXTENT + x) as usize)
            .map_or([0; 4], |texel| texel.to_le_bytes())
    }

    /// # Errors
    ///
    /// One of these texels (column, row) is not white.
    pub fn expect_white(&self, texels: &[(u32, u32)]) -> Result<()> {
        for &(x, y) in texels {
            let texel = self.texel(x, y);
            ensure!(texel == [255; 4], "pixel {x} {y} is {texel:?}");
        }
        Ok(())
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        // SAFETY: no submission uses the image: the cases wait for them, or the device is lost.
        unsafe {
            self.device.raw.destroy_image_view(self.view, None);
            self.device.raw.destroy_image(self.raw, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}

pub(super) fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    }
}
