//! State of graphics pipelines.

use crate::image::{EXTENT, FORMAT, area};
use ash::prelude::VkResult;
use ash::vk;

pub(super) type Part = vk::GraphicsPipelineLibraryFlagsEXT;

/// State of a graphics pipeline besides its shaders: one triangle, or patches of three points, into an [`Image`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphicsState {
    /// All stages of the whole pipeline. Without a fragment shader, nothing is rasterised.
    pub used: vk::ShaderStageFlags,
    /// The part that a pipeline library contains; empty for a whole pipeline.
    pub part: Part,
    /// Flags of the pipeline.
    pub flags: vk::PipelineCreateFlags,
    /// The parent of a derivative.
    pub parent: vk::Pipeline,
    /// A render pass; null for dynamic rendering.
    pub render_pass: vk::RenderPass,
}

impl GraphicsState {
    /// Creates a pipeline of these stages.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn create(
        &self,
        device: &ash::Device,
        layout: vk::PipelineLayout,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        callbacks: Option<&vk::AllocationCallbacks<'_>>,
    ) -> VkResult<vk::Pipeline> {
        let patches = self.used.contains(vk::ShaderStageFlags::TESSELLATION_CONTROL);
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
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(if patches {
            vk::PrimitiveTopology::PATCH_LIST
        } else {
            vk::PrimitiveTopology::TRIANGLE_LIST
        });
        let tessellation = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(3);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let draws = self.used.contains(vk::ShaderStageFlags::FRAGMENT);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .line_width(1.0)
            .rasterizer_discard_enable(!draws);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
        // Works around Mesa's lavapipe 22.3, which reads this unused state of fragment shader libraries.
        let depth = vk::PipelineDepthStencilStateCreateInfo::default();
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let mut library = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(self.part);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .flags(self.flags)
            .stages(stages)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .layout(layout)
            .render_pass(self.render_pass)
            .base_pipeline_index(-1);
        if self.render_pass == vk::RenderPass::null() {
            info = info.push_next(&mut rendering);
        }
        if !self.used.contains(vk::ShaderStageFlags::MESH_EXT) {
            info = info.vertex_input_state(&vertex_input).input_assembly_state(&assembly);
        }
        if patches {
            info = info.tessellation_state(&tessellation);
        }
        if !self.part.is_empty() {
            info = info.push_next(&mut library);
        }
        if self.flags.contains(vk::PipelineCreateFlags::DERIVATIVE) {
            info = info.base_pipeline_handle(self.parent);
        }
        create(device, info, callbacks)
    }
}

/// Creates one pipeline.
///
/// # Errors
///
/// The call fails.
pub(super) fn create(
    device: &ash::Device,
    info: vk::GraphicsPipelineCreateInfo<'_>,
    callbacks: Option<&vk::AllocationCallbacks<'_>>,
) -> VkResult<vk::Pipeline> {
    // SAFETY: the handles belong to this device and the structures are valid.
    let created = unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], callbacks) };
    Ok(created.map_err(|(_, result)| result)?[0])
}
