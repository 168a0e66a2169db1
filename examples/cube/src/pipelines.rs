//! The three pipelines, their layout and the descriptor set that they share.

use crate::device::Device;
use crate::mesh::Vertex;
use crate::shaders::{CUBE_FRAGMENT, CUBE_VERTEX, PATTERN, Shader, TEXT_FRAGMENT, TEXT_VERTEX};
use crate::text::Glyph;
use anyhow::Result;
use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{IVec2, Mat4, Quat, Vec2};
use std::rc::Rc;

/// Format of depth buffers. Every device supports it.
pub const DEPTH_FORMAT: vk::Format = vk::Format::D16_UNORM;

/// The push constants of all shaders. Each declares those that it uses.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Constants {
    /// From world to clip coordinates.
    pub projection: Mat4,
    /// The cube's rotation.
    pub rotation: Quat,
    /// The pixel at which the fragment shader aborts.
    pub abort_pixel: IVec2,
    /// Newton's method ends with a step below this. Negative: never.
    pub tolerance: f32,
    /// Pixels for each font pixel.
    pub text_scale: f32,
    /// Size of the frame in pixels.
    pub viewport: Vec2,
    /// Size of a character in font pixels.
    pub glyph: Vec2,
}

/// Push constants are visible to all stages, so that one call sets them for all pipelines.
pub const CONSTANT_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw()
        | vk::ShaderStageFlags::FRAGMENT.as_raw()
        | vk::ShaderStageFlags::COMPUTE.as_raw(),
);

/// The pipelines and their layout.
pub struct Pipelines {
    device: Rc<Device>,
    /// Layout of the descriptor set: 0 the texture as a storage image, 1 the same with a sampler, 2 the font.
    pub set_layout: vk::DescriptorSetLayout,
    /// Layout of every pipeline.
    pub layout: vk::PipelineLayout,
    /// Computes the texture.
    pub pattern: vk::Pipeline,
    /// Draws the cube.
    pub cube: vk::Pipeline,
    /// Draws the text.
    pub text: vk::Pipeline,
}

impl Pipelines {
    /// Creates the pipelines for targets of this format.
    pub fn new(device: &Rc<Device>, format: vk::Format) -> Result<Self> {
        let mut pipelines = Self {
            device: device.clone(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pattern: vk::Pipeline::null(),
            cube: vk::Pipeline::null(),
            text: vk::Pipeline::null(),
        };
        pipelines.create_layouts()?;
        pipelines.pattern = pipelines.create_compute(&PATTERN)?;
        device.name(pipelines.pattern, "pattern");
        pipelines.cube = pipelines.create_graphics(&Graphics {
            shaders: [&CUBE_VERTEX, &CUBE_FRAGMENT],
            stride: size_of::<Vertex>(),
            input_rate: vk::VertexInputRate::VERTEX,
            attributes: Vertex::attributes(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            is_overlay: false,
            format,
        })?;
        device.name(pipelines.cube, "cube");
        pipelines.text = pipelines.create_graphics(&Graphics {
            shaders: [&TEXT_VERTEX, &TEXT_FRAGMENT],
            stride: size_of::<Glyph>(),
            input_rate: vk::VertexInputRate::INSTANCE,
            attributes: Glyph::attributes(),
            topology: vk::PrimitiveTopology::TRIANGLE_STRIP,
            is_overlay: true,
            format,
        })?;
        Ok(pipelines)
    }

    fn create_layouts(&mut self) -> Result<()> {
        let binding = |number, kind, stage| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(stage)
        };
        let bindings = [
            binding(0, vk::DescriptorType::STORAGE_IMAGE, vk::ShaderStageFlags::COMPUTE),
            binding(
                1,
                vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
                vk::ShaderStageFlags::FRAGMENT,
            ),
            binding(2, vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::FRAGMENT),
        ];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: `info` is valid for the call.
        self.set_layout = unsafe { self.device.raw.create_descriptor_set_layout(&info, None) }?;
        let set_layouts = [self.set_layout];
        let constants = [vk::PushConstantRange::default()
            .stage_flags(CONSTANT_STAGES)
            .size(size_of::<Constants>() as u32)];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts)
            .push_constant_ranges(&constants);
        // SAFETY: `info` is valid for the call.
        self.layout = unsafe { self.device.raw.create_pipeline_layout(&info, None) }?;
        Ok(())
    }

    fn module(&self, shader: &Shader) -> Result<Module> {
        let words = shader.words(self.device.gpu.has_aborts())?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = Module {
            // SAFETY: the words are valid SPIR-V for the features of the device.
            raw: unsafe { self.device.raw.create_shader_module(&info, None) }?,
            device: self.device.clone(),
        };
        self.device.name(module.raw, shader.name);
        Ok(module)
    }

    fn create_compute(&self, shader: &Shader) -> Result<vk::Pipeline> {
        let module = self.module(shader)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.raw)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout);
        // SAFETY: `info` is valid, and the layout has what the shader uses.
        let created = unsafe {
            let cache = vk::PipelineCache::null();
            self.device.raw.create_compute_pipelines(cache, &[info], None)
        };
        Ok(created.map_err(|(_, error)| error)?[0])
    }

    fn create_graphics(&self, graphics: &Graphics<'_>) -> Result<vk::Pipeline> {
        let [vertex, fragment] = graphics.shaders;
        let modules = [self.module(vertex)?, self.module(fragment)?];
        let stages = [
            (vk::ShaderStageFlags::VERTEX, &modules[0]),
            (vk::ShaderStageFlags::FRAGMENT, &modules[1]),
        ]
        .map(|(stage, module)| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module.raw)
                .name(c"main")
        });
        let bindings = [vk::VertexInputBindingDescription::default()
            .stride(graphics.stride as u32)
            .input_rate(graphics.input_rate)];
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&graphics.attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(graphics.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .cull_mode(match graphics.is_overlay {
                true => vk::CullModeFlags::NONE,
                false => vk::CullModeFlags::BACK,
            })
            .line_width(1.0);
        let multisample =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(!graphics.is_overlay)
            .depth_write_enable(!graphics.is_overlay)
            .depth_compare_op(vk::CompareOp::LESS);
        let blends = [vk::PipelineColorBlendAttachmentState::default()
            .color_write_mask(vk::ColorComponentFlags::RGBA)
            .blend_enable(graphics.is_overlay)
            .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
            .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        // The size of the window changes; a pipeline does not depend on it.
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let formats = [graphics.format];
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&formats)
            .depth_attachment_format(DEPTH_FORMAT);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(self.layout)
            .push_next(&mut rendering);
        // SAFETY: `info` is valid, and the layout has what the shaders use.
        let created = unsafe {
            let cache = vk::PipelineCache::null();
            self.device.raw.create_graphics_pipelines(cache, &[info], None)
        };
        Ok(created.map_err(|(_, error)| error)?[0])
    }
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: the renderer has waited for the device, or the device is lost. Destroying a null handle is allowed.
        unsafe {
            for pipeline in [self.pattern, self.cube, self.text] {
                device.destroy_pipeline(pipeline, None);
            }
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// The differences between the two graphics pipelines.
struct Graphics<'a> {
    shaders: [&'a Shader; 2],
    /// Bytes of a vertex or instance.
    stride: usize,
    input_rate: vk::VertexInputRate,
    attributes: [vk::VertexInputAttributeDescription; 3],
    topology: vk::PrimitiveTopology,
    /// Blended over the frame, without a depth test.
    is_overlay: bool,
    /// Format of the target.
    format: vk::Format,
}

/// A shader module, needed until its pipeline is created.
struct Module {
    raw: vk::ShaderModule,
    device: Rc<Device>,
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: a pipeline does not use its modules after its creation.
        unsafe { self.device.raw.destroy_shader_module(self.raw, None) };
    }
}
