//! Instances of Vulkan 1.0 and 1.1, in which drivers of later versions support buffer device addresses only if they list
//! their extension. The layer creates such instances with a later version.

use super::support::{expect_end, expect_narrow, open_with_extensions, words};
use crate::case::{Case, Context, cases};
use crate::glsl;
use crate::vk::{Buffer, Device, ExtraDeviceInfo, Gpu, Kernel, khr, with_create_info};
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CStr;

pub(super) const CASES: &[Case] = cases! {
    "instance_version::an_abort_under_1_0" => check(context, vk::API_VERSION_1_0, true), logs(&["word 3 is 7"]);
    "instance_version::an_abort_under_1_1" => check(context, vk::API_VERSION_1_1, true), logs(&["word 3 is 7"]);
    "instance_version::no_abort_under_1_0" => check(context, vk::API_VERSION_1_0, false), silent();
    "instance_version::without_application_info" => without_info(context), alone(), silent();
    "instance_version::enabled_by_the_layer_under_1_0" => enabled_by_layer(context),
        alone(), set(&[("enable", "always")]), logs(&["word 3 is 7"]);
    "instance_version::emulation_off_keeps_the_version" => kept(context), alone(), set(&[("emulation", "off")]), silent();
    "instance_version::a_driver_of_1_0" => of_driver(context), on_driver("api=1.0"), silent();
};

const QUERIES: [&CStr; 1] = [ash::khr::get_physical_device_properties2::NAME];

fn shader() -> Result<Vec<u32>> {
    let path = glsl::folder().join("abort/entry_point.comp");
    glsl::compile_file(&path, glsl::TargetEnv::Vulkan1_0)
}

fn create(gpu: &Gpu, abort: bool) -> Result<Device<'_>> {
    with_create_info(0, abort, ExtraDeviceInfo::default(), |info| {
        Device::create(gpu, &info, 0)
    })
}

fn run(device: &Device<'_>, aborts: bool) -> Result<()> {
    let buffer = Buffer::storage(device, &words(aborts))?;
    let result = Kernel::new(device, &shader()?, &[&buffer])?.run_to_end(2)?;
    expect_end(result, aborts)
}

fn check(context: &Context, version: u32, aborts: bool) -> Result<()> {
    let gpu = open_with_extensions(context, version, &QUERIES)?;
    for name in khr::EXTENSION_NAMES {
        ensure!(gpu.has_extension(name)?, "{name:?} is not listed");
    }
    // Strings of GLSL's aborts need the capability Int8, which a Vulkan 1.0 application cannot enable.
    expect_narrow(&gpu.messages);
    let device = create(&gpu, true)?;
    run(&device, aborts)?;
    if aborts {
        ensure!(device.payloads()?.len() == 1, "no message");
    }
    Ok(())
}

fn list(entry: &ash::Entry, info: &vk::InstanceCreateInfo<'_>) -> Result<bool> {
    // SAFETY: the create-info is valid, and the instance is destroyed after its last use.
    unsafe {
        let instance = entry.create_instance(info, None)?;
        let mut all = Vec::new();
        for physical in instance.enumerate_physical_devices()? {
            all.extend(instance.enumerate_device_extension_properties(physical)?);
        }
        instance.destroy_instance(None);
        Ok(all
            .iter()
            .any(|extension| extension.extension_name_as_c_str() == Ok(khr::SHADER_ABORT_NAME)))
    }
}

/// "`NULL` .. is equivalent to providing an `apiVersion` of 0", which means 1.0.
fn without_info(_: &Context) -> Result<()> {
    let entry = Gpu::loader()?;
    ensure!(list(&entry, &vk::InstanceCreateInfo::default())?, "not listed");
    let unversioned = vk::ApplicationInfo::default();
    let info = vk::InstanceCreateInfo::default().application_info(&unversioned);
    ensure!(list(&entry, &info)?, "not listed with apiVersion 0");
    Ok(())
}

/// The application enables neither an instance extension nor a device extension.
fn enabled_by_layer(context: &Context) -> Result<()> {
    let gpu = Gpu::open_as(context, vk::API_VERSION_1_0)?;
    run(&create(&gpu, false)?, true)
}

fn kept(context: &Context) -> Result<()> {
    let gpu = Gpu::open_as(context, vk::API_VERSION_1_0)?;
    ensure!(!gpu.has_extension(khr::SHADER_ABORT_NAME)?, "listed");
    create(&gpu, false).map(drop)
}

fn of_driver(context: &Context) -> Result<()> {
    let gpu = Gpu::open_as(context, vk::API_VERSION_1_0)?;
    ensure!(!gpu.has_extension(khr::SHADER_ABORT_NAME)?, "listed");
    create(&gpu, false)?.wait_idle()?;
    Ok(())
}
