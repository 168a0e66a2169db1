//! Pipelines created from a module identifier: messages are delivered although the layer sees no SPIR-V.

use super::support::{Extra, aborting, device_with, payload};
use crate::case::{Case, cases};
use crate::cases::support::expect_payloads;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::{ext, vk};

pub(super) const CASES: &[Case] = cases! {
    "test_driver_identifiers::a_pipeline_of_an_identifier_aborts" => run(gpu, vk::Result::ERROR_DEVICE_LOST),
        on_driver("abort=1");
    "test_driver_identifiers::a_pipeline_of_an_identifier_runs" => run(gpu, vk::Result::SUCCESS),
        on_driver("abort=2"), silent();
};

/// "vkGetShaderModuleIdentifierEXT and vkGetShaderModuleCreateInfoIdentifierEXT must return identical identifiers" for the
/// same code, and a pipeline of that identifier equals the pipeline of the module.
fn run(gpu: &Gpu, expected: vk::Result) -> Result<()> {
    let device = device_with(gpu, &Extra::extensions(&[ext::shader_module_identifier::NAME]))?;
    let identifier = identify(&device)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    let mut chained = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(&identifier);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .name(c"main")
        .push_next(&mut chained);
    let info = vk::ComputePipelineCreateInfo::default()
        .flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED)
        .stage(stage)
        .layout(kernel.layout);
    // SAFETY: the handles belong to this device; the create info points to data that outlives the call.
    let created = unsafe {
        device
            .raw
            .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
    };
    kernel.pipeline = *created.map_err(|(_, result)| result)?.first().context("no pipeline")?;
    let words = crate::vk::test_driver::words(&device, kernel.pipeline, 0)?;
    ensure!(words.len() > 5, "the driver has no module for the identifier");
    let (_submission, result) = kernel.run(1)?;
    ensure!(result == expected, "the dispatch ended with {result:?}");
    if expected == vk::Result::ERROR_DEVICE_LOST {
        expect_payloads(&device, &[payload(1, 0)])?;
    }
    Ok(())
}

/// Identifier of a module that is destroyed before this returns.
fn identify(device: &Device<'_>) -> Result<Vec<u8>> {
    let commands = ext::shader_module_identifier::Device::new(&device.gpu.instance, &device.raw);
    let words = aborting()?;
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    let (mut of_module, mut of_info) =
        <(vk::ShaderModuleIdentifierEXT<'_>, vk::ShaderModuleIdentifierEXT<'_>)>::default();
    // SAFETY: the structures outlive the calls; only this function uses the module.
    unsafe {
        let module = device.raw.create_shader_module(&info, None)?;
        (commands.fp().get_shader_module_identifier_ext)(device.raw.handle(), module, &mut of_module);
        (commands.fp().get_shader_module_create_info_identifier_ext)(device.raw.handle(), &info, &mut of_info);
        device.raw.destroy_shader_module(module, None);
    }
    let bytes = |identifier: &vk::ShaderModuleIdentifierEXT<'_>| {
        let size = identifier.identifier_size as usize;
        identifier.identifier.get(..size).unwrap_or_default().to_vec()
    };
    let (module, info) = (bytes(&of_module), bytes(&of_info));
    ensure!(!module.is_empty() && module == info, "{module:?} and {info:?}");
    Ok(module)
}
