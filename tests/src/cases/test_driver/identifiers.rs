//! Pipelines created from module identifiers (`VK_EXT_shader_module_identifier`): messages are delivered although the layer
//! sees no SPIR-V, and the code is that of the device and of the specialisation.

use super::support::{Extra, aborting, device_with, run_first};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::cases::constant_data::shader;
use crate::cases::constant_data_special::{Special, specialisations};
use crate::cases::objects::error_code;
use crate::vk::{Buffer, Device, Gpu, Kernel, specialization, stage, test_driver};
use anyhow::{Result, ensure};
use ash::{ext, vk};

pub(super) const CASES: &[Case] = cases! {
    "test_driver_identifiers::a_pipeline_aborts" => run(gpu, true), on_driver("abort=1");
    "test_driver_identifiers::a_pipeline_runs" => run(gpu, false), on_driver("abort=2"), silent();
    "test_driver_identifiers::of_specialised_constant_data" => specialised(gpu), on_driver(""), silent();
    "test_driver_identifiers::of_another_device" => another_device(gpu), on_driver("kind=cpu,import"), silent();
};

/// A device with the extension.
pub(super) fn device(gpu: &Gpu) -> Result<Device<'_>> {
    device_with(gpu, &Extra::extensions(&[ext::shader_module_identifier::NAME]))
}

/// Creates the kernel's pipeline from an identifier, and returns its SPIR-V.
pub(super) fn create(
    device: &Device<'_>,
    kernel: &mut Kernel<'_>,
    identifier: &[u8],
    special: &Special,
) -> Result<Vec<u32>> {
    let (entries, data) = specialization(special);
    let info = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut chained = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default().identifier(identifier);
    let stage = stage(vk::ShaderModule::null())
        .specialization_info(&info)
        .push_next(&mut chained);
    let info = vk::ComputePipelineCreateInfo::default()
        .flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED)
        .stage(stage)
        .layout(kernel.layout);
    let mut pipeline = vk::Pipeline::null();
    // SAFETY: the handles belong to this device; the create info points to data that outlives the call.
    unsafe {
        (device.raw.fp_v1_0().create_compute_pipelines)(
            device.raw.handle(),
            vk::PipelineCache::null(),
            1,
            &info,
            std::ptr::null(),
            &mut pipeline,
        )
    }
    // `VK_PIPELINE_COMPILE_REQUIRED` is not an error, but has no pipeline.
    .result()?;
    kernel.pipeline = pipeline;
    test_driver::words(device, pipeline, 0)
}

/// A pipeline of an identifier equals the pipeline of the module.
fn run(gpu: &Gpu, aborts: bool) -> Result<()> {
    let device = device(gpu)?;
    let identifier = identify(&device, &aborting()?)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    let words = create(&device, &mut kernel, &identifier, &Special::new())?;
    ensure!(words.len() > 5, "the driver has no module for the identifier");
    run_first(&kernel, aborts)
}

/// Identifier of a module that is destroyed before this returns: "the identifier returned by [..]
/// vkGetShaderModuleCreateInfoIdentifierEXT must be equal to the identifier returned by vkGetShaderModuleIdentifierEXT".
pub(super) fn identify(device: &Device<'_>, words: &[u32]) -> Result<Vec<u8>> {
    let commands = ext::shader_module_identifier::Device::new(&device.gpu.instance, &device.raw);
    let info = vk::ShaderModuleCreateInfo::default().code(words);
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

/// The test driver ignores the specialisation, like a driver that drops constants that the module lacks.
fn specialised(gpu: &Gpu) -> Result<()> {
    let device = device(gpu)?;
    let buffer = Buffer::storage(&device, &[0; 64])?;
    let spirv = assemble(&shader("specialised_message", &[])?)?;
    let identifier = identify(&device, &spirv)?;
    for (special, table, _) in specialisations() {
        let mut compiled = Kernel::bound(&device, &[&buffer])?;
        compiled.create(&spirv, &special, None)?;
        let mut found = Kernel::bound(&device, &[&buffer])?;
        let words = create(&device, &mut found, &identifier, &special)?;
        ensure!(
            words == test_driver::words(&device, compiled.pipeline, 0)?,
            "the pipeline has other data than {table:?}"
        );
    }
    Ok(())
}

/// "The identifier returned by implementation must only depend on shaderIdentifierAlgorithmUUID and information provided in
/// the VkShaderModuleCreateInfo." So it may be used on another device, whose messages must not go to the first one.
fn another_device(gpu: &Gpu) -> Result<()> {
    let (first, second) = (device(gpu)?, device(gpu)?);
    let spirv = aborting()?;
    let identifier = identify(&first, &spirv)?;
    let buffer = Buffer::storage(&second, &[0; 64])?;
    let mut found = Kernel::bound(&second, &[&buffer])?;
    let code = error_code(create(&second, &mut found, &identifier, &Special::new()));
    ensure!(code == Some(vk::Result::PIPELINE_COMPILE_REQUIRED_EXT), "{code:?}");
    ensure!(identify(&second, &spirv)? == identifier, "the identifiers differ");
    let words = create(&second, &mut found, &identifier, &Special::new())?;
    let compiled = Kernel::new(&second, &spirv, &[&buffer])?;
    ensure!(
        words == test_driver::words(&second, compiled.pipeline, 0)?,
        "the pipeline writes to another device's memory"
    );
    Ok(())
}
