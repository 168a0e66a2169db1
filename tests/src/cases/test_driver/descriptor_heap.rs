//! Pipelines without a layout, whose stages map their bindings to descriptor heaps (`VK_EXT_descriptor_heap`). The driver
//! refuses a stage that has lost its mappings.

use super::support::{Extra, aborting, device_with, payload};
use crate::assembly::assemble;
use crate::case::{Case, cases};
use crate::cases::constant_data::shader;
use crate::cases::objects::create_pipeline_from;
use crate::cases::support::{GROUPS, expect_end, expect_payloads};
use crate::vk::khr::{DESCRIPTOR_HEAP, DESCRIPTOR_HEAP_NAME, DescriptorMapping, ShaderDescriptorMappings};
use crate::vk::{Device, Gpu, Submission, specialization, stage};
use anyhow::Result;
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "test_driver_descriptor_heap::an_abort" => run(gpu, true), on_driver("abort=*"), logs(&["message 0"]);
    "test_driver_descriptor_heap::without_an_abort" => run(gpu, false), on_driver(""), silent();
};

/// How a stage gets its module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShaderSource {
    Object,
    /// Chained before the mappings.
    First,
    /// Chained behind the mappings.
    Last,
}

fn run(gpu: &Gpu, aborts: bool) -> Result<()> {
    // The layer rewrites the module of a pipeline that specialises its constant data.
    let specialised = assemble(&shader("specialised_message", &[])?)?;
    let mut number = 0;
    for spirv in [&aborting()?, &specialised] {
        for source in [ShaderSource::Object, ShaderSource::First, ShaderSource::Last] {
            number += 1;
            let device = &device_with(gpu, &Extra::extensions(&[DESCRIPTOR_HEAP_NAME]))?;
            let pipeline = create(device, spirv, source)?;
            let submission = Submission::record(device, |raw, commands| {
                // SAFETY: the command buffer is being recorded, and the pipeline outlives its use.
                unsafe {
                    raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
                    raw.cmd_dispatch(commands, GROUPS, 1, 1);
                }
            })?;
            let result = submission.run();
            // SAFETY: the submission has ended, or the device is lost.
            unsafe { device.raw.destroy_pipeline(pipeline, None) };
            expect_end(result, aborts)?;
            if aborts {
                expect_payloads(device, &[payload(number, 0)])?;
            }
        }
    }
    Ok(())
}

/// Creates a pipeline whose binding 0 is at offset 0 of the resource heap.
fn create(device: &Device<'_>, spirv: &[u32], source: ShaderSource) -> Result<vk::Pipeline> {
    let mapping = DescriptorMapping {
        binding_count: 1,
        // VK_SPIRV_RESOURCE_TYPE_ALL_EXT
        resource_mask: 0x7FFF_FFFF,
        ..DescriptorMapping::default()
    };
    let mut mappings = ShaderDescriptorMappings {
        mapping_count: 1,
        p_mappings: &raw const mapping,
        ..ShaderDescriptorMappings::default()
    };
    let mut code = vk::ShaderModuleCreateInfo::default().code(spirv);
    let (entries, data) = specialization(&[(1, vec![9; 12])]);
    let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(DESCRIPTOR_HEAP);
    // SAFETY: the handles belong to this device and the structures are valid.
    unsafe {
        let module = match source {
            ShaderSource::Object => device.raw.create_shader_module(&code, None)?,
            ShaderSource::First | ShaderSource::Last => vk::ShaderModule::null(),
        };
        let stage = stage(module).specialization_info(&special);
        // Each structure is put before those that are chained already.
        let stage = match source {
            ShaderSource::Object => stage.push_next(&mut mappings),
            ShaderSource::First => stage.push_next(&mut mappings).push_next(&mut code),
            ShaderSource::Last => stage.push_next(&mut code).push_next(&mut mappings),
        };
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .push_next(&mut flags);
        let created = create_pipeline_from(device, &info);
        device.raw.destroy_shader_module(module, None);
        created
    }
}
