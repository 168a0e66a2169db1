//! Logical devices of device groups ("Devices and Queues", Device Group Creation).

use super::lost_objects::submit;
use super::objects::{create_pipeline, error_code};
use super::support::{GROUPS, check_entry_point, marked, run_entry_point, without_abort};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Kernel, Submission};
use anyhow::{Context as _, Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "device_group::of_one_device_aborts" => of_one(gpu, &[5]), logs(&["word 5 is 7"]);
    "device_group::of_one_device_without_a_taken_abort" => of_one(gpu, &[]), silent();
    "device_group::of_several_devices_is_refused" => of_several(gpu), on_driver("devices=2,abort=1"), validated(),
        logs(&["not emulated on a device of several physical devices"]);
    "device_group::of_several_devices_without_the_extension" => several_without_abort(gpu), on_driver("devices=2"),
        validated(), silent();
};

/// A logical device of `physical`, all of one group.
fn create<'gpu>(gpu: &'gpu Gpu, physical: &[vk::PhysicalDevice], abort: bool) -> Result<Device<'gpu>> {
    let mut group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(physical);
    let options = DeviceOptions {
        abort,
        ..DeviceOptions::default()
    };
    let more = ExtraDeviceInfo {
        features: vec![&mut group],
        ..ExtraDeviceInfo::default()
    };
    Device::extended(gpu, options, more)
}

/// Physical devices of the group that contains the chosen one.
fn group(gpu: &Gpu) -> Result<Vec<vk::PhysicalDevice>> {
    // SAFETY: the instance is alive.
    unsafe {
        let count = gpu.instance.enumerate_physical_device_groups_len()?;
        let mut groups = vec![vk::PhysicalDeviceGroupProperties::default(); count];
        gpu.instance.enumerate_physical_device_groups(&mut groups)?;
        let mut lists = groups.iter().map(|group| group.physical_devices_as_slice());
        let found = lists.find(|list| list.contains(&gpu.physical));
        Ok(found.context("the device is in no group")?.to_vec())
    }
}

/// Masks of the only physical device at submission and in the command buffer, and a dispatch with a base workgroup.
fn of_one(gpu: &Gpu, aborting: &[usize]) -> Result<()> {
    ensure!(!group(gpu)?.is_empty(), "the group is empty");
    let device = create(gpu, &[gpu.physical], true)?;
    let buffer = Buffer::storage(&device, &marked(aborting))?;
    let mut kernel = Kernel::bound(&device, &[&buffer])?;
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let info = vk::ComputePipelineCreateInfo::default()
        .flags(vk::PipelineCreateFlags::DISPATCH_BASE)
        .layout(kernel.layout);
    kernel.pipeline = create_pipeline(&device, &spirv, info)?;
    let compute = vk::PipelineBindPoint::COMPUTE;
    let submission = Submission::record(&device, |raw, commands| {
        // SAFETY: the command buffer is being recorded, and the kernel lives until it has executed.
        unsafe {
            raw.cmd_set_device_mask(commands, 1);
            raw.cmd_bind_pipeline(commands, compute, kernel.pipeline);
            raw.cmd_bind_descriptor_sets(commands, compute, kernel.layout, 0, &[kernel.set], &[]);
            for base in 0..GROUPS {
                raw.cmd_dispatch_base(commands, base, 0, 0, 1, 1, 1);
            }
        }
    })?;
    let masks = [1];
    let mut group = vk::DeviceGroupSubmitInfo::default().command_buffer_device_masks(&masks);
    let result = match submit(&device, vk::SubmitInfo::default().push_next(&mut group), &submission) {
        vk::Result::SUCCESS => submission.wait(),
        error => error,
    };
    check_entry_point(&device, result, &buffer.read(), aborting)
}

/// Messages of several physical devices cannot be collected in mapped memory: "memory must not have been allocated with
/// multiple instances" (VUID-vkMapMemory-memory-00683). A device of a single one still works.
fn of_several(gpu: &Gpu) -> Result<()> {
    let physical = group(gpu)?;
    ensure!(physical.len() == 2, "the group has {} devices", physical.len());
    let code = error_code(create(gpu, &physical, true));
    ensure!(code == Some(vk::Result::ERROR_INITIALIZATION_FAILED), "{code:?}");
    run_entry_point(&create(gpu, &physical[..1], true)?, true)
}

fn several_without_abort(gpu: &Gpu) -> Result<()> {
    let physical = group(gpu)?;
    create(gpu, &physical, false)?.wait_idle()?;
    without_abort(gpu)?.wait_idle()?;
    Ok(())
}
