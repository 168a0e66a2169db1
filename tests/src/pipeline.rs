//! A pipeline of any shaders. Its layout follows from their [`Interface`]; nothing is bound or drawn.

use crate::interface::Interface;
use crate::processor_time::processor_time;
use crate::vk::{Device, GraphicsState, specialization};
use anyhow::{Context, Result, ensure};
use ash::vk;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::time::Duration;

/// Bytes of push constants for all stages: the minimum of `maxPushConstantsSize`.
const PUSH_CONSTANTS: u32 = 128;

/// A pipeline of any shaders.
pub struct Pipeline<'device> {
    device: &'device Device<'device>,
    sets: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
    modules: Vec<vk::ShaderModule>,
    /// The pipeline.
    pub raw: vk::Pipeline,
    /// Processor time that this process used to create the modules and the pipeline: unlike wall time, it does not depend on
    /// what else the machine does.
    pub time: Duration,
}

/// An entry point of a module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Code<'a> {
    /// The module.
    pub words: &'a [u32],
    /// The entry point's index.
    pub entry: usize,
    /// Data of specialisation constants, by `SpecId`.
    pub special: &'a [(u32, Vec<u8>)],
}

impl<'device> Pipeline<'device> {
    /// Creates a compute or graphics pipeline of these stages.
    ///
    /// # Errors
    ///
    /// A call fails, or an entry point has another stage.
    pub fn new(device: &'device Device<'device>, stages: &[Code<'_>], flags: vk::PipelineCreateFlags) -> Result<Self> {
        let interfaces = stages.iter().map(|stage| Interface::of(stage.words));
        let interfaces = interfaces.collect::<Result<Vec<_>>>()?;
        let mut entries = Vec::new();
        for (interface, code) in interfaces.iter().zip(stages) {
            let entry = interface.entries.get(code.entry);
            let (stage, name) = entry.context("the module has no such entry point")?;
            entries.push((stage.context("not a compute or graphics shader")?, name.clone()));
        }
        let mut pipeline = Self {
            device,
            sets: Vec::new(),
            layout: vk::PipelineLayout::null(),
            modules: Vec::new(),
            raw: vk::Pipeline::null(),
            time: Duration::ZERO,
        };
        pipeline.lay_out(&interfaces)?;
        let start = processor_time();
        for stage in stages {
            let info = vk::ShaderModuleCreateInfo::default().code(stage.words);
            // SAFETY: the structure is valid for the call.
            let module = unsafe { device.raw.create_shader_module(&info, None) };
            pipeline.modules.push(module.context("vkCreateShaderModule")?);
        }
        pipeline.raw = pipeline.create(&entries, stages, flags)?;
        pipeline.time = processor_time().saturating_sub(start);
        Ok(pipeline)
    }

    /// Creates the pipeline layout of all stages' resources.
    fn lay_out(&mut self, interfaces: &[Interface]) -> Result<()> {
        let mut sets: BTreeMap<u32, Vec<vk::DescriptorSetLayoutBinding<'_>>> = BTreeMap::new();
        for (&(set, binding), &(kind, count)) in interfaces.iter().flat_map(|interface| &interface.bindings) {
            let bindings = sets.entry(set).or_default();
            if bindings.iter().all(|other| other.binding != binding) {
                let info = vk::DescriptorSetLayoutBinding::default();
                let info = info.binding(binding).descriptor_type(kind).descriptor_count(count);
                bindings.push(info.stage_flags(vk::ShaderStageFlags::ALL));
            }
        }
        let raw = &self.device.raw;
        let count = sets.last_key_value().map_or(0, |(last, _)| last + 1);
        for set in 0..count {
            let bindings = sets.remove(&set).unwrap_or_default();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the structure is valid for the call.
            let layout = unsafe { raw.create_descriptor_set_layout(&info, None) };
            self.sets.push(layout.context("vkCreateDescriptorSetLayout")?);
        }
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::ALL)
            .size(PUSH_CONSTANTS)];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&self.sets)
            .push_constant_ranges(&ranges);
        // SAFETY: the layouts belong to this device and the structures are valid.
        self.layout = unsafe { raw.create_pipeline_layout(&info, None) }.context("vkCreatePipelineLayout")?;
        Ok(())
    }

    fn create(
        &self,
        entries: &[(vk::ShaderStageFlags, CString)],
        codes: &[Code<'_>],
        flags: vk::PipelineCreateFlags,
    ) -> Result<vk::Pipeline> {
        let data: Vec<_> = codes.iter().map(|code| specialization(code.special)).collect();
        let infos: Vec<_> = data
            .iter()
            .map(|(map, data)| vk::SpecializationInfo::default().map_entries(map).data(data))
            .collect();
        let stages: Vec<_> = entries
            .iter()
            .zip(&self.modules)
            .zip(&infos)
            .map(|(((stage, name), module), specialization)| {
                let info = vk::PipelineShaderStageCreateInfo::default();
                let info = info.stage(*stage).name(name).module(*module);
                match specialization.map_entry_count {
                    0 => info,
                    _ => info.specialization_info(specialization),
                }
            })
            .collect();
        let is_compute = entries.iter().any(|(stage, _)| *stage == vk::ShaderStageFlags::COMPUTE);
        if !is_compute {
            let used = entries.iter().fold(vk::ShaderStageFlags::empty(), |all, e| all | e.0);
            let state = GraphicsState {
                used,
                flags,
                ..Default::default()
            };
            return state
                .create(&self.device.raw, self.layout, &stages, None)
                .context("vkCreateGraphicsPipelines");
        }
        ensure!(stages.len() == 1, "a compute pipeline has one stage");
        let info = vk::ComputePipelineCreateInfo::default().stage(stages[0]).flags(flags);
        let (raw, none) = (&self.device.raw, vk::PipelineCache::null());
        // SAFETY: the handles belong to this device and the structures are valid.
        let created = unsafe { raw.create_compute_pipelines(none, &[info.layout(self.layout)], None) };
        let created = created
            .map_err(|(_, result)| result)
            .context("vkCreateComputePipelines")?;
        created.first().copied().context("no pipeline")
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        let raw = &self.device.raw;
        // SAFETY: the objects belong to this device, and no command uses them.
        unsafe {
            raw.destroy_pipeline(self.raw, None);
            for module in &self.modules {
                raw.destroy_shader_module(*module, None);
            }
            raw.destroy_pipeline_layout(self.layout, None);
            for set in &self.sets {
                raw.destroy_descriptor_set_layout(*set, None);
            }
        }
    }
}
