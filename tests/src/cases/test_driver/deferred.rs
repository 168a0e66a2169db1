//! Deferred operations: "any memory that the deferred command's parameters point to must remain until the operation is
//! complete". This includes the layer's replacements.

use super::support::{Extra, aborting, device_with};
use crate::case::{Case, cases};
use crate::vk::{Gpu, test_driver};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "test_driver_deferred::rewritten_modules_live_until_the_operation_completes" => deferred(gpu),
        on_driver("deferred");
    "test_driver_deferred::an_operation_that_is_not_deferred" => deferred(gpu), on_driver("");
};

fn deferred(gpu: &Gpu) -> Result<()> {
    let spirv = aborting()?;
    let (result, words) = create(gpu, &spirv)?;
    let is_deferred = result == vk::Result::OPERATION_DEFERRED_KHR;
    ensure!(is_deferred || result == vk::Result::SUCCESS, "{result:?}");
    ensure!(words.first() == Some(&0x0723_0203), "{words:x?}");
    ensure!(words != spirv, "the module was not rewritten");
    Ok(())
}

/// Creates a pipeline in a deferred operation, and completes that. Returns the result of its creation, and its words.
pub(super) fn create(gpu: &Gpu, spirv: &[u32]) -> Result<(vk::Result, Vec<u32>)> {
    let extensions = [
        ash::khr::ray_tracing_pipeline::NAME,
        ash::khr::acceleration_structure::NAME,
        ash::khr::deferred_host_operations::NAME,
    ];
    let device = device_with(gpu, &Extra::extensions(&extensions))?;
    let operations = ash::khr::deferred_host_operations::Device::new(&gpu.instance, &device.raw);
    let pipelines = ash::khr::ray_tracing_pipeline::Device::new(&gpu.instance, &device.raw);
    // SAFETY: the handles belong to this device; create infos live until the operation has completed.
    unsafe {
        let operation = operations.create_deferred_operation(None)?;
        let mut chained = vk::ShaderModuleCreateInfo::default().code(spirv);
        let stages = [vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::RAYGEN_KHR)
            .name(c"main")
            .push_next(&mut chained)];
        let info = vk::RayTracingPipelineCreateInfoKHR::default().stages(&stages);
        let mut created = [vk::Pipeline::null()];
        let result = (pipelines.fp().create_ray_tracing_pipelines_khr)(
            device.raw.handle(),
            operation,
            vk::PipelineCache::null(),
            1,
            &raw const info,
            std::ptr::null(),
            created.as_mut_ptr(),
        );
        ensure!(result.as_raw() >= 0, "{result:?}");
        // These allocations would reuse freed memory.
        let noise: Vec<Vec<u32>> = (0..64).map(|_| vec![0xDEAD_BEEF; spirv.len() * 2]).collect();
        (operations.fp().deferred_operation_join_khr)(device.raw.handle(), operation).result()?;
        drop(noise);
        let words = test_driver::words(&device, created[0], 0)?;
        operations.destroy_deferred_operation(operation, None);
        device.raw.destroy_pipeline(created[0], None);
        Ok((result, words))
    }
}
