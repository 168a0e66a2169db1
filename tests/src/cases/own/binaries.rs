//! "Consistent between runs": what reaches the driver for a shader with aborts does not depend on the process. Within one
//! process here; `tests/own_driver.rs` compares processes by what these cases print.

use super::aborting;
use crate::case::{Case, Context};
use crate::harness::{HAS_DEVICE, HOLD, MAY_END};
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel, own};
use anyhow::{Result, ensure};
use ash::vk;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) const CASES: &[Case] = &[
    Case::new("own_binaries::with_replayed_addresses", |c| same(c, false)).on_driver("replay"),
    Case::new("own_binaries::with_imported_memory", |c| same(c, true)).on_driver("kind=cpu,import"),
    Case::new("own_binaries::with_host_addresses", |c| same(c, true)).on_driver("kind=cpu"),
    Case::new("own_binaries::with_an_import_that_is_refused", |c| same(c, true))
        .on_driver("kind=cpu,import,refuse=import:*"),
    Case::new("own_binaries::pipeline_cache_data", cache_data).on_driver("replay"),
    Case::new("own_binaries::of_three_devices", of_three_devices).on_driver("replay"),
    Case::new("own_binaries::beside_another_device", beside).on_driver("replay"),
    Case::new("own_binaries::while_others_come", held).on_driver("replay"),
];

/// The aborting shader as it reaches the driver.
fn reached(device: &Device<'_>) -> Result<Vec<u32>> {
    let buffer = Buffer::storage(device, &[0; 64])?;
    let kernel = Kernel::new(device, &aborting()?, &[&buffer])?;
    own::words(device, kernel.pipeline, 0)
}

/// Devices that live at the same time have different places where they share one space of addresses; a later one gets the
/// place that is free again.
fn same(context: &Context, shared: bool) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let first = Device::new(&gpu)?;
    let words = reached(&first)?;
    let second = Device::new(&gpu)?;
    let others = reached(&second)?;
    ensure!(
        !shared || words != others,
        "two live devices share the memory for messages"
    );
    ensure!(reached(&second)? == others, "the same shader differs on one device");
    drop(first);
    ensure!(
        reached(&Device::new(&gpu)?)? == words,
        "the next device does not get the first one's place"
    );
    Ok(())
}

fn cache_data(context: &Context) -> Result<()> {
    print(&Device::new(&Gpu::open(context)?)?)
}

fn of_three_devices(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let devices = [Device::new(&gpu)?, Device::new(&gpu)?, Device::new(&gpu)?];
    devices.iter().try_for_each(print)
}

fn beside(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    let _other = Device::with(&gpu, options)?;
    print(&Device::new(&gpu)?)
}

fn held(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    print(&device)?;
    if std::env::var_os(HOLD).is_some() {
        std::fs::write(HAS_DEVICE, "")?;
        let began = Instant::now();
        while !Path::new(MAY_END).exists() {
            ensure!(began.elapsed() < Duration::from_secs(50), "nobody came");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    Ok(())
}

/// Prints the pipeline cache's data.
fn print(device: &Device<'_>) -> Result<()> {
    let raw = &device.raw;
    let spirv = aborting()?;
    // SAFETY: the handles are of this device and the structures valid.
    unsafe {
        let cache = raw.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None)?;
        let layout = raw.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
        let module = raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&spirv), None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let made = raw.create_compute_pipelines(cache, &[info], None);
        let pipeline = made.map_err(|(_, result)| result)?[0];
        let data = raw.get_pipeline_cache_data(cache)?;
        ensure!(!data.is_empty(), "the cache is empty");
        println!("cache {}", vkabort_record::escape::hex(&data));
        raw.destroy_pipeline(pipeline, None);
        raw.destroy_shader_module(module, None);
        raw.destroy_pipeline_layout(layout, None);
        raw.destroy_pipeline_cache(cache, None);
    }
    Ok(())
}
