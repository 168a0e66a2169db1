//! Graphics pipelines that draw one triangle into an image, with any stages and every way to supply the shaders.

use crate::graphics_state::{GraphicsState, Part, create};
use crate::{Buffer, Device, Image, Kernel, Submission, specialization};
use anyhow::Result;
use ash::prelude::VkResult;
use ash::vk;

/// A shader stage. Its entry point is `main`.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    /// Stage flag.
    pub kind: vk::ShaderStageFlags,
    /// SPIR-V words.
    pub spirv: &'a [u32],
    /// Data of specialization constants, by `SpecId`.
    pub special: &'a [(u32, Vec<u8>)],
}

impl<'a> Stage<'a> {
    /// A stage without specialization.
    pub fn new(kind: vk::ShaderStageFlags, spirv: &'a [u32]) -> Self {
        let special = &[];
        Self { kind, spirv, special }
    }
}

/// How a pipeline gets its shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderSource {
    /// As module objects.
    Modules,
    /// As module create infos in the chains of the stages.
    Inline,
    /// As module objects in linked pipeline libraries.
    Libraries,
    /// As chained create infos in linked pipeline libraries.
    InlineLibraries,
    /// As module objects, in a derivative of an equal pipeline.
    Derivative,
}

impl ShaderSource {
    fn inline(self) -> bool {
        matches!(self, Self::Inline | Self::InlineLibraries)
    }
}

/// A graphics pipeline that draws one triangle or dispatches one mesh workgroup. It has 8 bytes of push constants for all
/// stages and a descriptor set of buffers.
pub struct Pass<'device> {
    device: &'device Device<'device>,
    bindings: Kernel<'device>,
    layout: vk::PipelineLayout,
    /// All pipelines; libraries and parents come first.
    pipelines: Vec<vk::Pipeline>,
    stages: vk::ShaderStageFlags,
}

impl<'device> Pass<'device> {
    /// Creates a pipeline with a vertex and a fragment shader.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn new(device: &'device Device<'device>, vertex: &[u32], fragment: &[u32]) -> Result<Self> {
        let stages = [
            (vk::ShaderStageFlags::VERTEX, vertex),
            (vk::ShaderStageFlags::FRAGMENT, fragment),
        ];
        let stages = stages.map(|(kind, spirv)| Stage::new(kind, spirv));
        Self::with(device, &stages, &[], ShaderSource::Modules)
    }

    /// Creates a pipeline with these stages and buffers.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn with(
        device: &'device Device<'device>,
        stages: &[Stage<'_>],
        buffers: &[&'device Buffer<'device>],
        source: ShaderSource,
    ) -> Result<Self> {
        let used = stages.iter().fold(vk::ShaderStageFlags::empty(), |all, s| all | s.kind);
        let bindings = Kernel::bound_with(device, buffers, None, used)?;
        let ranges = [vk::PushConstantRange::default().stage_flags(used).size(8)];
        let layouts = [bindings.set_layout];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&ranges);
        let mut pass = Self {
            device,
            bindings,
            // SAFETY: the handles belong to this device and the structures are valid.
            layout: unsafe { device.raw.create_pipeline_layout(&info, None) }?,
            pipelines: Vec::new(),
            stages: used,
        };
        pass.create_all(stages, source)?;
        Ok(pass)
    }

    /// The pipeline that draws.
    pub fn pipeline(&self) -> vk::Pipeline {
        self.pipelines.last().copied().unwrap_or_default()
    }

    fn create_all(&mut self, stages: &[Stage<'_>], source: ShaderSource) -> VkResult<()> {
        let raw = &self.device.raw;
        let mut infos: Vec<_> = stages
            .iter()
            .map(|stage| vk::ShaderModuleCreateInfo::default().code(stage.spirv))
            .collect();
        let special: Vec<_> = stages.iter().map(|stage| specialization(stage.special)).collect();
        let special: Vec<_> = special
            .iter()
            .map(|(entries, data)| vk::SpecializationInfo::default().map_entries(entries).data(data))
            .collect();
        let mut modules = Vec::new();
        if !source.inline() {
            for info in &infos {
                // SAFETY: the structure is valid.
                modules.push(unsafe { raw.create_shader_module(info, None) }?);
            }
        }
        let mut created = Vec::new();
        for (i, (stage, info)) in stages.iter().zip(&mut infos).enumerate() {
            let mut one = vk::PipelineShaderStageCreateInfo::default()
                .stage(stage.kind)
                .name(c"main");
            if !stage.special.is_empty() {
                one = one.specialization_info(&special[i]);
            }
            created.push(match modules.get(i) {
                Some(module) => one.module(*module),
                None => one.push_next(info),
            });
        }
        let result = match source {
            ShaderSource::Modules | ShaderSource::Inline => {
                self.create(&created, Part::empty(), vk::PipelineCreateFlags::empty())
            }
            ShaderSource::Derivative => self
                .create(&created, Part::empty(), vk::PipelineCreateFlags::ALLOW_DERIVATIVES)
                .and_then(|()| self.create(&created, Part::empty(), vk::PipelineCreateFlags::DERIVATIVE)),
            ShaderSource::Libraries | ShaderSource::InlineLibraries => self.create_linked(&created),
        };
        for module in modules {
            // SAFETY: modules may be destroyed after pipeline creation.
            unsafe { raw.destroy_shader_module(module, None) };
        }
        result
    }

    /// Creates the four pipeline libraries and links them.
    fn create_linked(&mut self, stages: &[vk::PipelineShaderStageCreateInfo<'_>]) -> VkResult<()> {
        let fragment = |stage: &&vk::PipelineShaderStageCreateInfo<'_>| stage.stage == vk::ShaderStageFlags::FRAGMENT;
        let before: Vec<_> = stages.iter().filter(|stage| !fragment(stage)).copied().collect();
        let after: Vec<_> = stages.iter().filter(fragment).copied().collect();
        let library = vk::PipelineCreateFlags::LIBRARY_KHR;
        if !self.meshes() {
            self.create(&[], Part::VERTEX_INPUT_INTERFACE, library)?;
        }
        self.create(&before, Part::PRE_RASTERIZATION_SHADERS, library)?;
        self.create(&after, Part::FRAGMENT_SHADER, library)?;
        self.create(&[], Part::FRAGMENT_OUTPUT_INTERFACE, library)?;
        let libraries = self.pipelines.clone();
        let mut linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .layout(self.layout)
            .push_next(&mut linked);
        self.pipelines.push(create(&self.device.raw, info, None)?);
        Ok(())
    }

    fn meshes(&self) -> bool {
        self.stages.contains(vk::ShaderStageFlags::MESH_EXT)
    }

    fn create(
        &mut self,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
        part: Part,
        flags: vk::PipelineCreateFlags,
    ) -> VkResult<()> {
        let state = GraphicsState {
            used: self.stages,
            part,
            flags,
            parent: self.pipelines.last().copied().unwrap_or_default(),
            render_pass: vk::RenderPass::null(),
        };
        self.pipelines
            .push(state.create(&self.device.raw, self.layout, stages, None)?);
        Ok(())
    }

    /// Layout of the pipeline.
    pub fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// Binds this pipeline, or another of its layout, with the descriptors and push constants.
    pub fn bind(&self, raw: &ash::Device, commands: vk::CommandBuffer, pipeline: vk::Pipeline, push: [u32; 2]) {
        let bytes: Vec<u8> = push.iter().flat_map(|word| word.to_le_bytes()).collect();
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the command buffer is in the recording state, and the objects outlive its execution.
        unsafe {
            raw.cmd_bind_pipeline(commands, point, pipeline);
            raw.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.bindings.set], &[]);
            raw.cmd_push_constants(commands, self.layout, self.stages, 0, &bytes);
        }
    }

    /// Clears the image to black, draws, and copies the texels to the image's buffer.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&self, image: &Image<'device>, push: [u32; 2]) -> Result<Submission<'device>> {
        image.record(|raw, commands| {
            self.bind(raw, commands, self.pipeline(), push);
            // SAFETY: the command buffer is in the recording state, and the objects outlive its execution.
            unsafe {
                if self.meshes() {
                    let mesh = ash::ext::mesh_shader::Device::new(&self.device.gpu.instance, raw);
                    mesh.cmd_draw_mesh_tasks(commands, 2, 1, 1);
                } else {
                    raw.cmd_draw(commands, 3, 1, 0, 0);
                }
            }
        })
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        // SAFETY: no submission uses the pipelines: the cases wait for them, or the device is lost.
        unsafe {
            for pipeline in self.pipelines.drain(..).rev() {
                self.device.raw.destroy_pipeline(pipeline, None);
            }
            self.device.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}
