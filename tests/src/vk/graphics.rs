//! A small colour image, a pass that draws one triangle into it, and the image's texels.

use super::{Buffer, Device, Submission};
use anyhow::Result;
use ash::vk;

/// Width and height of the image.
const EXTENT: u32 = 64;
/// 8 bits each of red, green, blue and alpha.
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// A colour image with a buffer that its texels are copied to.
pub struct Image<'device> {
    device: &'device Device<'device>,
    raw: vk::Image,
    view: vk::ImageView,
    memory: vk::DeviceMemory,
    texels: Buffer<'device>,
}

impl<'device> Image<'device> {
    /// Texels in a row, and rows.
    pub const EXTENT: u32 = EXTENT;

    /// An image of 64 by 64 texels.
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
            let kind = needs.memory_type_bits.trailing_zeros();
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

    /// The texel at a column and a row, as red, green, blue and alpha.
    pub fn texel(&self, x: u32, y: u32) -> [u8; 4] {
        self.texels
            .read()
            .get((y * EXTENT + x) as usize)
            .map_or([0; 4], |texel| texel.to_le_bytes())
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        // SAFETY: submissions that use the image are over: the cases wait for them, or the device is lost.
        unsafe {
            self.device.raw.destroy_image_view(self.view, None);
            self.device.raw.destroy_image(self.raw, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}

fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    }
}

/// A graphics pipeline that draws one triangle, with 8 bytes of push constants for both stages.
pub struct Pass<'device> {
    device: &'device Device<'device>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

/// The stages that see the push constants.
const STAGES: vk::ShaderStageFlags =
    vk::ShaderStageFlags::from_raw(vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw());

impl<'device> Pass<'device> {
    /// A pipeline of these two shaders.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn new(device: &'device Device<'device>, vertex: &[u32], fragment: &[u32]) -> Result<Self> {
        let mut pass = Self {
            device,
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
        };
        let raw = &device.raw;
        let ranges = [vk::PushConstantRange::default().stage_flags(STAGES).size(8)];
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
            pass.layout = raw.create_pipeline_layout(&info, None)?;
            let vertex = raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(vertex), None)?;
            let fragment = raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(fragment), None);
            let made = fragment.and_then(|fragment| {
                let made = pass.create_pipeline(vertex, fragment);
                raw.destroy_shader_module(fragment, None);
                made
            });
            raw.destroy_shader_module(vertex, None);
            pass.pipeline = made?;
        }
        Ok(pass)
    }

    fn create_pipeline(
        &self,
        vertex: vk::ShaderModule,
        fragment: vk::ShaderModule,
    ) -> ash::prelude::VkResult<vk::Pipeline> {
        let stage = |stage, module| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module)
                .name(c"main")
        };
        let stages = [
            stage(vk::ShaderStageFlags::VERTEX, vertex),
            stage(vk::ShaderStageFlags::FRAGMENT, fragment),
        ];
        let viewports = [vk::Viewport {
            width: EXTENT as f32,
            height: EXTENT as f32,
            max_depth: 1.0,
            ..Default::default()
        }];
        let scissors = [area()];
        let blend = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
        let formats = [FORMAT];
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(self.layout)
            .push_next(&mut rendering);
        // SAFETY: the handles belong to this device and the structures are valid.
        let made = unsafe {
            self.device
                .raw
                .create_graphics_pipelines(vk::PipelineCache::null(), &[info], None)
        };
        made.map(|pipelines| pipelines[0]).map_err(|(_, result)| result)
    }

    /// Clears the image to black, draws, and copies the texels to the image's buffer.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&self, image: &Image<'device>, push: [u32; 2]) -> Result<Submission<'device>> {
        Submission::record(self.device, |raw, commands| {
            let bytes: Vec<u8> = push.iter().flat_map(|word| word.to_le_bytes()).collect();
            let attachments = [vk::RenderingAttachmentInfo::default()
                .image_view(image.view)
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
                    .image(image.raw)
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
            // SAFETY: the command buffer is being recorded, and what it uses outlives its use.
            unsafe {
                raw.cmd_begin_rendering(commands, &info);
                raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipeline);
                raw.cmd_push_constants(commands, self.layout, STAGES, 0, &bytes);
                raw.cmd_draw(commands, 3, 1, 0, 0);
                raw.cmd_end_rendering(commands);
            }
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
            // SAFETY: as above; the buffer has room for every texel.
            unsafe { raw.cmd_copy_image_to_buffer(commands, image.raw, copied.0, image.texels.raw, &[region]) };
        })
    }
}

fn area() -> vk::Rect2D {
    vk::Rect2D {
        extent: vk::Extent2D {
            width: EXTENT,
            height: EXTENT,
        },
        ..Default::default()
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        // SAFETY: submissions that use the pipeline are over: the cases wait for them, or the device is lost.
        unsafe {
            self.device.raw.destroy_pipeline(self.pipeline, None);
            self.device.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}
