//! Queries through less common paths: the layer's own list, any chain order, tools, old instances, several instances.

use super::support::{GROUPS, entry_point, expect_end, expect_room, marked, open_with_extensions};
use crate::case::{Case, Context, cases};
use crate::vk::khr::{self, FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};
use crate::vk::{Device, Gpu, code};
use anyhow::{Context as _, Result, ensure};
use ash::vk::{self, ExtendsPhysicalDeviceFeatures2};
use std::ffi::CStr;
use std::ptr;

pub(super) const CASES: &[Case] = cases! {
    "more_queries::device_extensions_by_layer_name" => own_list(gpu), silent();
    "more_queries::features_in_any_chain_order" => any_order(gpu), silent();
    "more_queries::an_instance_of_vulkan_1_0" => oldest(context), silent();
    "more_queries::tools" => tools(gpu), silent();
    "more_queries::tools_without_the_layer" => no_tool(gpu), without_layer();
    "more_queries::two_instances" => two_instances(context);
};

const LAYER: &CStr = c"VK_LAYER_vkabort_shader_abort";

fn own_list(gpu: &Gpu) -> Result<()> {
    // SAFETY: the name is NUL-terminated.
    let enumerate = |room| unsafe { gpu.extensions_into(LAYER.as_ptr(), room) };
    let (result, total, _) = enumerate(None);
    ensure!(result == vk::Result::SUCCESS && total == 3, "{result:?}, {total}");
    for room in 0..5u32 {
        let (result, count, list) = enumerate(Some(room));
        expect_room(result, count, room, 3)?;
        let (filled, rest) = list.split_at(count as usize);
        for (i, extension) in filled.iter().enumerate() {
            let name = extension.extension_name_as_c_str()?;
            ensure!(khr::EXTENSION_NAMES.contains(&name), "element {i} is {name:?}");
            ensure!(extension.spec_version == 1, "{name:?}: {}", extension.spec_version);
        }
        let untouched = rest
            .iter()
            .all(|extension| extension.extension_name_as_c_str() == Ok(c""));
        ensure!(untouched, "more than {count} elements were written");
    }
    Ok(())
}

fn any_order(gpu: &Gpu) -> Result<()> {
    for order in 0..24 {
        let mut abort = ShaderAbortFeatures::new(false);
        // The layer must reset unsupported features that the application has set.
        let mut fault = FaultFeatures::new(true);
        fault.device_fault_device_lost_on_masked = vk::TRUE;
        fault.device_fault_report_masked = vk::TRUE;
        let mut data = ShaderConstantDataFeatures::new(false);
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut all: Vec<&mut dyn ExtendsPhysicalDeviceFeatures2> =
            vec![&mut abort, &mut fault, &mut data, &mut vulkan12];
        let mut chain = vk::PhysicalDeviceFeatures2::default();
        let mut rest = order;
        while !all.is_empty() {
            let at = rest % all.len();
            rest /= all.len();
            chain = chain.push_next(all.remove(at));
        }
        // SAFETY: the handle belongs to the living instance; the chain is valid.
        unsafe { gpu.instance.get_physical_device_features2(gpu.physical, &mut chain) };
        let found = [
            abort.shader_abort,
            fault.device_fault,
            data.shader_constant_data,
            vulkan12.buffer_device_address,
        ];
        ensure!(found == [vk::TRUE; 4], "{found:?} in order {order}");
        let masked = fault.device_fault_device_lost_on_masked;
        ensure!(masked == vk::FALSE, "masked faults lose the device in order {order}");
        ensure!(
            fault.device_fault_report_masked == vk::FALSE,
            "masked faults are reported in order {order}"
        );
    }
    Ok(())
}

/// A Vulkan 1.0 program that does not use the extensions gets the driver's answers.
fn oldest(context: &Context) -> Result<()> {
    let names = [ash::khr::get_physical_device_properties2::NAME];
    let gpu = open_with_extensions(context, vk::API_VERSION_1_0, &names)?;
    let mut properties = vk::PhysicalDeviceProperties2::default();
    let mut features = vk::PhysicalDeviceFeatures2::default();
    let commands = ash::khr::get_physical_device_properties2::Instance::new(&gpu.entry, &gpu.instance);
    // SAFETY: the handle belongs to the living instance; the chains are valid.
    unsafe {
        commands.get_physical_device_properties2(gpu.physical, &mut properties);
        commands.get_physical_device_features2(gpu.physical, &mut features);
    }
    ensure!(properties.properties.device_id == gpu.properties.device_id);
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    let device = Device::create(&gpu, &info, 0)?;
    device.wait_idle()?;
    Ok(())
}

fn tools_of(gpu: &Gpu, room: Option<u32>) -> (vk::Result, u32, Vec<vk::PhysicalDeviceToolProperties<'static>>) {
    let get = gpu.instance.fp_v1_3().get_physical_device_tool_properties;
    let mut list = vec![vk::PhysicalDeviceToolProperties::default(); room.unwrap_or(0) as usize];
    let mut count = room.unwrap_or(0);
    let at = if room.is_some() {
        list.as_mut_ptr()
    } else {
        ptr::null_mut()
    };
    // SAFETY: the array has room for `count` elements.
    let result = unsafe { get(gpu.physical, &raw mut count, at) };
    list.truncate(count as usize);
    (result, count, list)
}

fn tools(gpu: &Gpu) -> Result<()> {
    let (result, total, _) = tools_of(gpu, None);
    ensure!(result == vk::Result::SUCCESS && total >= 1, "{result:?}, {total}");
    // The validation layer above ours does not handle short arrays.
    let (_, _, all) = tools_of(gpu, Some(total));
    let ours_first = all.first().is_some_and(|tool| tool.layer_as_c_str() == Ok(LAYER));
    for room in if ours_first { 0 } else { total }..total + 2 {
        let (result, count, list) = tools_of(gpu, Some(room));
        expect_room(result, count, room, total)?;
        if room < total {
            continue;
        }
        let ours: Vec<_> = list.iter().filter(|tool| tool.layer_as_c_str() == Ok(LAYER)).collect();
        ensure!(ours.len() == 1, "listed {} times", ours.len());
        ensure!(
            ours[0].name_as_c_str() == Ok(c"vkabort")
                && ours[0].purposes.contains(vk::ToolPurposeFlags::MODIFYING_FEATURES),
            "{:?}",
            ours[0]
        );
    }
    Ok(())
}

fn no_tool(gpu: &Gpu) -> Result<()> {
    let (_, total, _) = tools_of(gpu, None);
    let (_, _, list) = tools_of(gpu, Some(total));
    let found = list.iter().any(|tool| tool.layer_as_c_str() == Ok(LAYER));
    ensure!(!found, "listed without the layer");
    Ok(())
}

/// Two instances with their own devices, one of which is lost.
fn two_instances(context: &Context) -> Result<()> {
    let (first, second) = (Gpu::open(context)?, Gpu::open_as(context, vk::API_VERSION_1_2)?);
    for gpu in [&first, &second] {
        for name in khr::EXTENSION_NAMES {
            ensure!(gpu.has_extension(name)?, "{name:?} is not listed");
        }
    }
    let (lost, healthy) = (Device::new(&first)?, Device::new(&first)?);
    for (device, marks) in [(&lost, &[3usize][..]), (&healthy, &[])] {
        let kernel = entry_point(device, &marked(marks))?;
        let (_submission, result) = kernel.run(GROUPS)?;
        expect_end(result, !marks.is_empty())?;
    }
    drop(second);
    // SAFETY: no other thread uses the devices.
    let idle = unsafe { [code(lost.raw.device_wait_idle()), code(healthy.raw.device_wait_idle())] };
    ensure!(idle == [vk::Result::ERROR_DEVICE_LOST, vk::Result::SUCCESS], "{idle:?}");
    let count = lost.payloads().context("after the other instance was destroyed")?.len();
    ensure!(count == 1, "{count} messages");
    Ok(())
}
