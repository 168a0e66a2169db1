//! Extensions, features and properties that the physical device reports.

use super::support::{expect_room, without_abort};
use crate::case::{Case, cases};
use crate::vk::khr::{self, FaultFeatures, FaultProperties, ShaderAbortFeatures, ShaderAbortProperties};
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};
use ash::vk;
use std::ptr;

pub(super) const CASES: &[Case] = cases! {
    "queries::extensions_with_versions" => extensions(gpu);
    "queries::extension_list_in_a_short_array" => short_array(gpu);
    "queries::features_in_any_order" => features(gpu);
    "queries::properties" => properties(gpu);
    "queries::commands_only_for_devices_that_enable_them" => commands(gpu);
    "queries::without_the_layer_the_extension_is_absent" => absent(gpu), without_layer();
};

fn extensions(gpu: &Gpu) -> Result<()> {
    let found = gpu.extensions()?;
    for name in khr::EXTENSION_NAMES {
        let same: Vec<_> = found
            .iter()
            .filter(|e| e.extension_name_as_c_str() == Ok(name))
            .collect();
        ensure!(same.len() == 1, "{name:?} is listed {} times", same.len());
        ensure!(same[0].spec_version == 1, "{name:?}: {}", same[0].spec_version);
    }
    Ok(())
}

fn short_array(gpu: &Gpu) -> Result<()> {
    // SAFETY: no layer is named.
    let enumerate = |room| unsafe { gpu.extensions_into(ptr::null(), room) };
    let (result, total, _) = enumerate(None);
    ensure!(result == vk::Result::SUCCESS && total > 3, "{result:?}, {total}");
    for room in [0, 1, total - 1, total, total + 5] {
        let (result, count, list) = enumerate(Some(room));
        expect_room(result, count, room, total)?;
        let filled = list
            .iter()
            .filter(|e| e.extension_name_as_c_str().is_ok_and(|name| !name.is_empty()))
            .count();
        ensure!(filled == count as usize, "{filled} names for {count}");
    }
    Ok(())
}

fn features(gpu: &Gpu) -> Result<()> {
    for abort_first in [true, false] {
        let mut abort = ShaderAbortFeatures::new(false);
        let mut fault = FaultFeatures::new(false);
        let mut data = khr::ShaderConstantDataFeatures::new(false);
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut chain = vk::PhysicalDeviceFeatures2::default();
        chain = if abort_first {
            chain
                .push_next(&mut abort)
                .push_next(&mut vulkan12)
                .push_next(&mut fault)
                .push_next(&mut data)
        } else {
            chain
                .push_next(&mut data)
                .push_next(&mut fault)
                .push_next(&mut vulkan12)
                .push_next(&mut abort)
        };
        // SAFETY: the handle belongs to the living instance; the chain is valid.
        unsafe { gpu.instance.get_physical_device_features2(gpu.physical, &mut chain) };
        ensure!(abort.shader_abort == vk::TRUE, "shaderAbort is off");
        ensure!(fault.device_fault == vk::TRUE, "deviceFault is off");
        ensure!(data.shader_constant_data == vk::TRUE, "shaderConstantData is off");
        ensure!(
            vulkan12.buffer_device_address == vk::TRUE,
            "the driver's own features are gone"
        );
    }
    Ok(())
}

fn properties(gpu: &Gpu) -> Result<()> {
    let mut abort = ShaderAbortProperties::default();
    let mut fault = FaultProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut chain = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut abort)
        .push_next(&mut driver)
        .push_next(&mut fault);
    // SAFETY: the handle belongs to the living instance; the chain is valid.
    unsafe { gpu.instance.get_physical_device_properties2(gpu.physical, &mut chain) };
    let same = chain.properties.device_id == gpu.properties.device_id;
    ensure!(same, "the driver's own properties are wrong");
    ensure!(abort.max_shader_abort_message_size >= 65536);
    ensure!(fault.max_device_fault_count >= 1);
    ensure!(
        driver.driver_id != vk::DriverId::default(),
        "the driver's own properties are missing"
    );
    Ok(())
}

fn commands(gpu: &Gpu) -> Result<()> {
    let with = Device::new(gpu)?;
    let without = without_abort(gpu)?;
    for name in [c"vkGetDeviceFaultReportsKHR", c"vkGetDeviceFaultDebugInfoKHR"] {
        ensure!(with.has_command(name), "{name:?} is missing");
        ensure!(
            !without.has_command(name),
            "{name:?} exists for a device that did not enable it"
        );
    }
    Ok(())
}

fn absent(gpu: &Gpu) -> Result<()> {
    for name in khr::EXTENSION_NAMES {
        ensure!(
            !gpu.has_extension(name)?,
            "the driver itself supports {name:?}, so it cannot show the layer's effect"
        );
    }
    Ok(())
}
