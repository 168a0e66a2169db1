//! Dispatches that the device generates: each sequence selects a pipeline of an execution set
//! (`VK_EXT_device_generated_commands`).

use super::command_pool::ON;
use super::objects::create_pipeline;
use super::support::{GROUPS, check_entry_point, marked};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::generated_commands::{
    Commands, DISPATCH, EXECUTION_SET, Features, GeneratedInfo, INDIRECT_BINDABLE, LayoutInfo, MemoryInfo, NAME,
    PREPROCESS_BUFFER, SetInfo, SetPipelines, SetToken, SetWrite, Tagged, Token,
};
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Kernel, Submission};
use anyhow::Result;
use ash::vk::{self, BufferUsageFlags as Usage};
use std::ptr;

pub(super) const CASES: &[Case] = cases! {
    "generated_commands::an_abort_in_a_pipeline_of_an_execution_set" => generated(gpu, &[5, 38]),
        set(ON), logs(&["word 5 is 7", "= command: vkCmdExecuteGeneratedCommandsEXT(isPreprocessed 0), the 1st of"]);
    "generated_commands::without_an_abort" => generated(gpu, &[]), silent();
};

const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

/// Creates the pipelines of these shaders, for use in an execution set.
fn pipelines(device: &Device<'_>, layout: vk::PipelineLayout, shaders: [&str; 2]) -> Result<Vec<vk::Pipeline>> {
    let mut flags = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(INDIRECT_BINDABLE);
    let info = vk::ComputePipelineCreateInfo::default()
        .layout(layout)
        .push_next(&mut flags);
    let create = |shader: &str| create_pipeline(device, &glsl::compile(shader)?, info);
    shaders.into_iter().map(create).collect()
}

/// Runs two sequences: the first with a pipeline without aborts over another range, the second with one that aborts at
/// marked words.
fn generated(gpu: &Gpu, aborting: &[usize]) -> Result<()> {
    let names = [NAME, ash::khr::maintenance5::NAME];
    names.into_iter().try_for_each(|name| gpu.require_extension(name))?;
    let mut features = Features::new(0, [vk::TRUE, vk::FALSE]);
    let mut maintenance = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true);
    let more = ExtraDeviceInfo {
        extensions: names.to_vec(),
        features: vec![&mut features, &mut maintenance],
    };
    let device = &Device::extended(gpu, DeviceOptions::ADDRESSES, more)?;
    let commands = Commands::load(device)?;
    let handle = device.raw.handle();
    let buffer = Buffer::storage(device, &marked(aborting))?;
    let mut kernel = Kernel::bound(device, &[&buffer])?;
    let both = pipelines(device, kernel.layout, ["abort/nothing.comp", "abort/entry_point.comp"])?;
    kernel.pipeline = both[0];
    // Pipeline 0 for one workgroup, then pipeline 1 for all.
    let sequences = Buffer::addressed(device, &[0, 1, 1, 1, 1, GROUPS, 1, 1], Usage::INDIRECT_BUFFER)?;
    let set_token = SetToken {
        kind: 0,
        stages: STAGES,
    };
    let token = |kind, set, offset| Tagged::new(7, Token { kind, set, offset });
    let tokens = [
        token(EXECUTION_SET, &raw const set_token, 0),
        token(DISPATCH, ptr::null(), 4),
    ];
    let layout = Tagged::new(
        6,
        LayoutInfo {
            flags: 0,
            stages: STAGES,
            stride: 16,
            layout: kernel.layout,
            token_count: 2,
            tokens: tokens.as_ptr(),
        },
    );
    let initial = Tagged::new(
        10,
        SetPipelines {
            initial: both[0],
            max_count: 2,
        },
    );
    let info = Tagged::new(
        3,
        SetInfo {
            kind: 0,
            pipelines: &raw const initial,
        },
    );
    let write = Tagged::new(
        8,
        SetWrite {
            index: 1,
            pipeline: both[1],
        },
    );
    let (mut set, mut layout_handle) = (0, 0);
    let mut needs = vk::MemoryRequirements2::default();
    // SAFETY: the handles belong to this device and the structures are valid.
    unsafe {
        (commands.create_set)(handle, &raw const info, ptr::null(), &raw mut set).result()?;
        (commands.update_set)(handle, set, 1, &raw const write);
        (commands.create_layout)(handle, &raw const layout, ptr::null(), &raw mut layout_handle).result()?;
        let info = Tagged::new(
            2,
            MemoryInfo {
                set,
                layout: layout_handle,
                max_sequences: 2,
                max_draws: 0,
            },
        );
        (commands.memory_requirements)(handle, &raw const info, &raw mut needs);
    }
    let room = vec![0; needs.memory_requirements.size.max(4).div_ceil(4) as usize];
    let preprocess = Buffer::addressed_with(device, &room, PREPROCESS_BUFFER)?;
    let info = Tagged::new(
        4,
        GeneratedInfo {
            stages: STAGES,
            set,
            layout: layout_handle,
            address: sequences.address(),
            size: 32,
            preprocess_address: preprocess.address(),
            preprocess_size: needs.memory_requirements.size,
            max_sequences: 2,
            count_address: 0,
            max_draws: 0,
        },
    );
    let submission = Submission::record(device, |raw, recorded| {
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is being recorded, and the objects outlive its use.
        unsafe {
            raw.cmd_bind_pipeline(recorded, compute, kernel.pipeline);
            raw.cmd_bind_descriptor_sets(recorded, compute, kernel.layout, 0, &[kernel.set], &[]);
            (commands.execute)(recorded, vk::FALSE, &raw const info);
        }
    })?;
    let result = submission.run();
    // SAFETY: the submission has ended, or the device is lost.
    unsafe {
        (commands.destroy_set)(handle, set, ptr::null());
        (commands.destroy_layout)(handle, layout_handle, ptr::null());
        device.raw.destroy_pipeline(both[1], None);
    }
    check_entry_point(device, result, &buffer.read(), aborting)
}
