//! Vulkan objects and queries of several cases.

use crate::vk::khr::ShaderAbortProperties;
use crate::vk::{Device, Gpu, stage};
use anyhow::Result;
use ash::prelude::VkResult;
use ash::vk;

/// Creates a shader module and destroys it.
pub(super) fn create_module(device: &Device<'_>, words: &[u32]) -> VkResult<()> {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: `info` points to `words.len()` readable words, layer and driver reject those that they cannot parse, and nothing
    // uses the module.
    unsafe {
        let module = device.raw.create_shader_module(&info, None)?;
        device.raw.destroy_shader_module(module, None);
    }
    Ok(())
}

/// Creates a pipeline of the compute shader in `spirv`, which replaces the stage of `info`.
pub(super) fn create_pipeline(
    device: &Device<'_>,
    spirv: &[u32],
    info: vk::ComputePipelineCreateInfo<'_>,
) -> Result<vk::Pipeline> {
    let code = vk::ShaderModuleCreateInfo::default().code(spirv);
    // SAFETY: the caller's structure and its handles are valid, and the module outlives the call.
    unsafe {
        let module = device.raw.create_shader_module(&code, None)?;
        let created = create_pipeline_from(device, &info.stage(stage(module)));
        device.raw.destroy_shader_module(module, None);
        created
    }
}

/// Creates a compute pipeline.
pub(super) fn create_pipeline_from(
    device: &Device<'_>,
    info: &vk::ComputePipelineCreateInfo<'_>,
) -> Result<vk::Pipeline> {
    let (infos, none) = (std::slice::from_ref(info), vk::PipelineCache::null());
    // SAFETY: the handles belong to this device; the create info points to data that outlives the call.
    let created = unsafe { device.raw.create_compute_pipelines(none, infos, None) };
    Ok(created.map_err(|(_, result)| result)?[0])
}

/// The error code of a call.
pub(super) fn error_code<T>(result: Result<T>) -> Option<vk::Result> {
    result.err()?.downcast_ref().copied()
}

/// Queries a structure of properties.
pub(super) fn ask_properties(gpu: &Gpu, properties: &mut impl vk::ExtendsPhysicalDeviceProperties2) {
    let mut chain = vk::PhysicalDeviceProperties2::default().push_next(properties);
    // SAFETY: the handle belongs to the living instance; the chain is valid.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut chain) };
}

/// `maxShaderAbortMessageSize`.
pub(super) fn message_limit(gpu: &Gpu) -> u64 {
    let mut abort = ShaderAbortProperties::default();
    ask_properties(gpu, &mut abort);
    abort.max_shader_abort_message_size
}
