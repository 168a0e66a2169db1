//! The shaders of the cases in [`super::allocation`], created with the application's memory callbacks.

use super::constant_data::shader as assembly;
use super::constant_data_special::{Special, specialisations};
use super::shader_binary::{aligned, compute_info};
use super::support::bytes;
use crate::assembly::{assemble, assemble_file};
use crate::glsl;
use crate::vk::{GraphicsState, specialization, stage};
use anyhow::Result;
use ash::prelude::VkResult;
use ash::{ext, vk};

/// Kinds of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shader {
    /// Two compute pipelines of one module.
    Compute,
    /// The same on the test driver only, with specialised constant data.
    Specialised,
    /// On the test driver only: two shader objects with specialised constant data.
    Object,
    /// On the test driver only: a graphics pipeline whose fragment shader specialises the length of its constant data.
    Graphics,
}

/// A shader, and the objects that run it.
pub(super) struct Program<'a> {
    device: &'a ash::Device,
    objects: &'a ext::shader_object::Device,
    callbacks: &'a vk::AllocationCallbacks<'a>,
    kind: Shader,
    modules: Vec<vk::ShaderModule>,
    layout: vk::PipelineLayout,
    pipelines: Vec<vk::Pipeline>,
    shaders: Vec<vk::ShaderEXT>,
}

/// SPIR-V of a stage, and its specialisation.
type Source = (vk::ShaderStageFlags, Vec<u32>, Special);

fn sources(kind: Shader) -> Result<Vec<Source>> {
    Ok(match kind {
        Shader::Compute => vec![(COMPUTE, glsl::compile("abort/pushed.comp")?, Vec::new())],
        Shader::Specialised | Shader::Object => {
            let spirv = assemble(&assembly("specialised_message", &[])?)?;
            let special = specialisations().into_iter().map(|(special, ..)| special);
            vec![(COMPUTE, spirv, special.max_by_key(Vec::len).unwrap_or_default())]
        }
        Shader::Graphics => {
            let fragment = assemble_file("assembly/constant_data/fragment_text.spvasm")?;
            vec![
                (
                    vk::ShaderStageFlags::VERTEX,
                    glsl::compile("stage/cover.vert")?,
                    Vec::new(),
                ),
                (vk::ShaderStageFlags::FRAGMENT, fragment, vec![(2, bytes(&[3]))]),
            ]
        }
    })
}

const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

impl<'a> Program<'a> {
    /// Creates the objects.
    ///
    /// # Safety
    /// The device must be live and outlive the program.
    pub(super) unsafe fn new(
        kind: Shader,
        device: &'a ash::Device,
        objects: &'a ext::shader_object::Device,
        callbacks: &'a vk::AllocationCallbacks<'a>,
    ) -> VkResult<Self> {
        let sources = sources(kind).map_err(|_| vk::Result::ERROR_INITIALIZATION_FAILED)?;
        let mut program = Self {
            device,
            objects,
            callbacks,
            kind,
            modules: Vec::new(),
            layout: vk::PipelineLayout::null(),
            pipelines: Vec::new(),
            shaders: Vec::new(),
        };
        // SAFETY: the device is live (the caller's contract).
        unsafe { program.create(&sources) }?;
        Ok(program)
    }

    /// # Safety
    /// The device must be live.
    unsafe fn create(&mut self, sources: &[Source]) -> VkResult<()> {
        let (device, callbacks) = (self.device, Some(self.callbacks));
        let used = sources
            .iter()
            .fold(vk::ShaderStageFlags::empty(), |all, source| all | source.0);
        let special: Vec<_> = sources.iter().map(|(.., special)| specialization(special)).collect();
        let special: Vec<_> = special
            .iter()
            .map(|(entries, data)| vk::SpecializationInfo::default().map_entries(entries).data(data))
            .collect();
        let ranges = [vk::PushConstantRange::default().stage_flags(used).size(4)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: the device is live (the caller's contract), and the structures are valid.
        unsafe {
            self.layout = device.create_pipeline_layout(&info, callbacks)?;
            if self.kind == Shader::Object {
                let (code, layouts) = (bytes(&sources[0].1), []);
                let copy = aligned(&code);
                let info = compute_info(&copy, code.len(), vk::ShaderCodeTypeEXT::SPIRV, &layouts);
                let infos = [info.specialization_info(&special[0]); 2];
                let created = self.objects.create_shaders(&infos, callbacks);
                let (shaders, result) = both(created);
                self.shaders = shaders;
                return result;
            }
            for (_, spirv, _) in sources {
                let info = vk::ShaderModuleCreateInfo::default().code(spirv);
                self.modules.push(device.create_shader_module(&info, callbacks)?);
            }
            let stages = sources.iter().zip(&self.modules).zip(&special);
            let stages: Vec<_> = stages
                .map(|((source, module), special)| stage(*module).stage(source.0).specialization_info(special))
                .collect();
            if self.kind == Shader::Graphics {
                let state = GraphicsState {
                    used,
                    ..Default::default()
                };
                self.pipelines
                    .push(state.create(device, self.layout, &stages, callbacks)?);
                return Ok(());
            }
            let infos = [vk::ComputePipelineCreateInfo::default()
                .stage(stages[0])
                .layout(self.layout); 2];
            let created = device.create_compute_pipelines(vk::PipelineCache::null(), &infos, callbacks);
            let (pipelines, result) = both(created);
            self.pipelines = pipelines;
            result
        }
    }

    /// Records a dispatch or a draw.
    ///
    /// # Safety
    /// `commands` must be in the recording state.
    pub(super) unsafe fn record(&self, commands: vk::CommandBuffer, aborts_at: u32) {
        let device = self.device;
        // SAFETY: the command buffer is being recorded (the caller's contract), and the program outlives its use.
        unsafe {
            match self.kind {
                Shader::Object => self.objects.cmd_bind_shaders(commands, &[COMPUTE], &self.shaders[1..]),
                Shader::Graphics => {
                    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, self.pipelines[0]);
                    return device.cmd_draw(commands, 3, 1, 0, 0);
                }
                _ => device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipelines[1]),
            }
            device.cmd_push_constants(commands, self.layout, COMPUTE, 0, &aborts_at.to_ne_bytes());
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        let callbacks = Some(self.callbacks);
        // SAFETY: the device is live, and no submission uses the objects any more. Null handles are ignored.
        unsafe {
            for shader in self.shaders.drain(..) {
                self.objects.destroy_shader(shader, callbacks);
            }
            for pipeline in self.pipelines.drain(..) {
                self.device.destroy_pipeline(pipeline, callbacks);
            }
            for module in self.modules.drain(..) {
                self.device.destroy_shader_module(module, callbacks);
            }
            self.device.destroy_pipeline_layout(self.layout, callbacks);
        }
    }
}

/// The objects that a call created, and its result.
fn both<T>(created: Result<Vec<T>, (Vec<T>, vk::Result)>) -> (Vec<T>, VkResult<()>) {
    match created {
        Ok(all) => (all, Ok(())),
        Err((some, error)) => (some, Err(error)),
    }
}
