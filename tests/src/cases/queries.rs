//! Properties that the physical device reports, and its extensions without the layer.

use crate::case::{Case, cases};
use crate::vk::Gpu;
use crate::vk::khr::{self, FaultProperties, ShaderAbortProperties};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "queries::properties" => properties(gpu);
    "queries::without_the_layer_the_extension_is_absent" => absent(gpu), without_layer();
};

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

fn absent(gpu: &Gpu) -> Result<()> {
    for name in khr::EXTENSION_NAMES {
        ensure!(
            !gpu.has_extension(name)?,
            "the driver itself supports {name:?}, so it cannot show the layer's effect"
        );
    }
    Ok(())
}
