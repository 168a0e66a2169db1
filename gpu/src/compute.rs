//! A compute pipeline with its buffers.

use crate::{Buffer, Cache, Device, Submission};
use anyhow::{Context, Result};
use ash::prelude::VkResult;
use ash::vk;
use std::ffi::CStr;

/// A compute pipeline with its buffers at bindings 0, 1, ..
pub struct Kernel<'device> {
    /// The device.
    pub device: &'device Device<'device>,
    /// Layout of the descriptor set.
    pub set_layout: vk::DescriptorSetLayout,
    /// Pipeline layout.
    pub layout: vk::PipelineLayout,
    /// The pipeline.
    pub pipeline: vk::Pipeline,
    pub(super) pool: vk::DescriptorPool,
    /// Descriptor set.
    pub set: vk::DescriptorSet,
}

/// Map entries and data of specialization constants, by `SpecId`.
pub fn specialization(special: &[(u32, Vec<u8>)]) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (id, bytes) in special {
        let entry = vk::SpecializationMapEntry::default().constant_id(*id);
        entries.push(entry.offset(data.len() as u32).size(bytes.len()));
        data.extend(bytes);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    (entries, data)
}

/// A compute stage that runs `main` of a module.
pub fn stage<'a>(module: vk::ShaderModule) -> vk::PipelineShaderStageCreateInfo<'a> {
    vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main")
}

impl<'device> Kernel<'device> {
    /// Creates a pipeline from SPIR-V.
    ///
    /// # Errors
    ///
    /// A call fails; the message names it.
    pub fn new(device: &'device Device<'device>, spirv: &[u32], buffers: &[&'device Buffer<'device>]) -> Result<Self> {
        let mut kernel = Self::bound(device, buffers)?;
        kernel.create(spirv, &[], None)?;
        Ok(kernel)
    }

    /// Creates a pipeline with the entry point `entry`.
    ///
    /// # Errors
    ///
    /// A call fails; the message names it.
    pub fn with_entry(
        device: &'device Device<'device>,
        spirv: &[u32],
        entry: &CStr,
        buffers: &[&'device Buffer<'device>],
    ) -> Result<Self> {
        let mut kernel = Self::bound(device, buffers)?;
        kernel.create_by(spirv, vk::PipelineCache::null(), |module| stage(module).name(entry))?;
        Ok(kernel)
    }

    /// Creates a pipeline and gives the module and the pipeline debug-utils names.
    ///
    /// # Errors
    ///
    /// A call fails; the message names it.
    pub fn named(
        device: &'device Device<'device>,
        spirv: &[u32],
        buffers: &[&'device Buffer<'device>],
        [module_name, pipeline_name]: [&CStr; 2],
    ) -> Result<Self> {
        let mut kernel = Self::bound(device, buffers)?;
        let mut named = Ok(());
        kernel.create_by(spirv, vk::PipelineCache::null(), |module| {
            named = device.name(module, module_name);
            stage(module)
        })?;
        named?;
        device.name(kernel.pipeline, pipeline_name)?;
        Ok(kernel)
    }

    /// Creates the layout and the descriptors, but no pipeline.
    ///
    /// # Errors
    ///
    /// A call fails; the message names it.
    pub fn bound(device: &'device Device<'device>, buffers: &[&'device Buffer<'device>]) -> Result<Self> {
        Self::bound_with(device, buffers, None, vk::ShaderStageFlags::COMPUTE)
    }

    /// Like [`bound`](Self::bound), for other stages, with an acceleration structure after the buffers.
    ///
    /// # Errors
    ///
    /// A call fails; the message names it.
    pub fn bound_with(
        device: &'device Device<'device>,
        buffers: &[&'device Buffer<'device>],
        scene: Option<vk::AccelerationStructureKHR>,
        stages: vk::ShaderStageFlags,
    ) -> Result<Self> {
        let mut kernel = Self::unbound(device);
        kernel.bind(buffers, scene, stages)?;
        Ok(kernel)
    }

    /// Without objects.
    pub(super) fn unbound(device: &'device Device<'device>) -> Self {
        Self {
            device,
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
        }
    }

    /// Creates the pipeline of this SPIR-V, with `SpecId` and data of specialization constants.
    ///
    /// # Errors
    ///
    /// A call fails; the message names it.
    pub fn create(&mut self, spirv: &[u32], special: &[(u32, Vec<u8>)], cache: Option<&Cache<'_>>) -> Result<()> {
        let (entries, data) = specialization(special);
        let info = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let cache = cache.map_or(vk::PipelineCache::null(), |cache| cache.raw);
        self.create_by(spirv, cache, |module| match special {
            [] => stage(module),
            _ => stage(module).specialization_info(&info),
        })
    }

    /// Like [`create`](Self::create), with the SPIR-V chained to the stage (`VK_KHR_maintenance5`,
    /// `VK_EXT_graphics_pipeline_library`).
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn create_inline(&mut self, spirv: &[u32], special: &[(u32, Vec<u8>)]) -> VkResult<()> {
        let (entries, data) = specialization(special);
        let info = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut module = vk::ShaderModuleCreateInfo::default().code(spirv);
        let stage = stage(vk::ShaderModule::null()).push_next(&mut module);
        let stage = match special {
            [] => stage,
            _ => stage.specialization_info(&info),
        };
        self.create_from(stage, vk::PipelineCache::null())
    }

    /// Creates the pipeline from the stage that `stage` returns for the module.
    fn create_by<'a>(
        &mut self,
        spirv: &[u32],
        cache: vk::PipelineCache,
        stage: impl FnOnce(vk::ShaderModule) -> vk::PipelineShaderStageCreateInfo<'a>,
    ) -> Result<()> {
        let raw = &self.device.raw;
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            let module = raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(spirv), None);
            let module = module.context("vkCreateShaderModule")?;
            let created = self.create_from(stage(module), cache);
            raw.destroy_shader_module(module, None);
            created.context("vkCreateComputePipelines")
        }
    }

    /// Creates the pipeline from a stage.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn create_from(
        &mut self,
        stage: vk::PipelineShaderStageCreateInfo<'_>,
        cache: vk::PipelineCache,
    ) -> VkResult<()> {
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(self.layout);
        // SAFETY: the handles belong to this device and the structures are valid.
        let created = unsafe { self.device.raw.create_compute_pipelines(cache, &[info], None) };
        self.pipeline = created.map_err(|(_, result)| result)?[0];
        Ok(())
    }

    /// Records a dispatch of `groups` workgroups.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&self, groups: u32) -> Result<Submission<'device>> {
        Submission::record(self.device, |raw, commands| self.dispatch(raw, commands, groups))
    }

    /// Records the dispatch into a command buffer.
    pub fn dispatch(&self, raw: &ash::Device, commands: vk::CommandBuffer, groups: u32) {
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is being recorded, and the pipeline and its set outlive its use.
        unsafe {
            raw.cmd_bind_pipeline(commands, compute, self.pipeline);
            raw.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &[self.set], &[]);
            raw.cmd_dispatch(commands, groups, 1, 1);
        }
    }

    /// Dispatches `groups` workgroups and waits. Returns the submission and the first error, or success.
    ///
    /// # Errors
    ///
    /// The dispatch cannot be recorded.
    pub fn run(&self, groups: u32) -> Result<(Submission<'device>, vk::Result)> {
        let submission = self.record(groups)?;
        let result = submission.run();
        Ok((submission, result))
    }

    /// Dispatches that many workgroups, waits, and returns the first error, or success.
    ///
    /// # Errors
    ///
    /// The dispatch cannot be recorded.
    pub fn run_to_end(&self, groups: u32) -> Result<vk::Result> {
        Ok(self.record(groups)?.run())
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        let raw = &self.device.raw;
        // SAFETY: no submission uses the pipeline: the cases wait for them, or the device is lost.
        unsafe {
            raw.destroy_pipeline(self.pipeline, None);
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_pipeline_layout(self.layout, None);
            raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
