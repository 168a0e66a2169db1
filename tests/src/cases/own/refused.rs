//! Allocations that the driver refuses while a device is made: the device comes into being on another way, or
//! `vkCreateDevice` says what is wrong; nothing is left behind.

use crate::case::{Case, Context};
use crate::vk::{Device, DeviceOptions, Gpu, own};
use anyhow::{Result, bail, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("own_refused::a_buffer", refused)
        .on_driver("refuse=buffer:1")
        .validated()
        .logs(&["VK_KHR_shader_abort cannot be emulated", "vkCreateBuffer failed"]),
    Case::new("own_refused::memory", refused)
        .on_driver("refuse=memory:1")
        .validated()
        .logs(&["VK_KHR_shader_abort cannot be emulated", "vkAllocateMemory failed"]),
    Case::new("own_refused::a_mapping", refused)
        .on_driver("refuse=map:1")
        .validated()
        .logs(&["VK_KHR_shader_abort cannot be emulated", "vkMapMemory failed"]),
    Case::new("own_refused::memory_that_the_host_sees", refused)
        .on_driver("memory=vram+incoherent")
        .validated()
        .logs(&["no memory type is host-visible and coherent"]),
    Case::new("own_refused::the_device_itself", the_device)
        .on_driver("refuse=device:1")
        .validated(),
    Case::new("own_refused::an_import_is_done_without", another_way)
        .on_driver("kind=cpu,import,refuse=import:*")
        .validated(),
    Case::new("own_refused::a_replayed_buffer_is_done_without", another_way)
        .on_driver("replay,refuse=buffer:1")
        .validated(),
    Case::new("own_refused::replayed_memory_is_done_without", another_way)
        .on_driver("replay,refuse=memory:1")
        .validated(),
    Case::new("own_refused::fences_of_queues_are_done_without", without_fences)
        .on_driver("abort=*,refuse=fence:1")
        .validated()
        .with(&[("VK_SHADER_ABORT_DRAIN_TIMEOUT_MS", "100")]),
    Case::new("own_refused::features_that_are_missing", missing_features)
        .on_driver("no_addresses")
        .validated(),
    Case::new(
        "own_refused::stores_of_vertex_shaders_that_are_missing",
        missing_features,
    )
    .on_driver("no_vertex_stores")
    .validated(),
    Case::new(
        "own_refused::stores_of_fragment_shaders_that_are_missing",
        missing_features,
    )
    .on_driver("no_fragment_stores")
    .validated(),
    Case::new("own_refused::vulkan_1_0", missing_features)
        .on_driver("api=1.0")
        .validated(),
];

fn without(gpu: &Gpu) -> Result<Device<'_>> {
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    Device::with(gpu, options)
}

fn refused(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let witness = without(&gpu)?;
    let before = own::seen(&witness)?.live;
    match Device::new(&gpu) {
        Ok(_) => bail!("the device was made"),
        Err(error) => {
            let code = error.downcast_ref::<vk::Result>().copied();
            let clear = [
                vk::Result::ERROR_INITIALIZATION_FAILED,
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
                vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            ];
            ensure!(code.is_some_and(|code| clear.contains(&code)), "{error:#}");
        }
    }
    let left = own::seen(&witness)?.live - before;
    ensure!(left == 0, "{left} objects are left of the device that was not made");
    // A device without the extensions needs nothing of this.
    without(&gpu).map(drop)
}

fn the_device(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let code = Device::new(&gpu)
        .err()
        .and_then(|error| error.downcast_ref::<vk::Result>().copied());
    ensure!(code == Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY), "{code:?}");
    Device::new(&gpu).map(drop)
}

fn another_way(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let witness = without(&gpu)?;
    let before = own::seen(&witness)?.live;
    for _ in 0..3 {
        drop(Device::new(&gpu)?);
    }
    let left = own::seen(&witness)?.live - before;
    ensure!(left == 0, "{left} objects are left");
    Ok(())
}

fn without_fences(context: &Context) -> Result<()> {
    super::with_kernel(context, |device, kernel| {
        let submission = kernel.record(1)?;
        let submitted = submission.submit();
        let result = if submitted == vk::Result::SUCCESS {
            submission.wait()
        } else {
            submitted
        };
        ensure!(
            result == vk::Result::ERROR_DEVICE_LOST,
            "the dispatch ended with {result:?}"
        );
        ensure!(device.payloads()?.len() == 1, "no message");
        Ok(())
    })
}

/// "Not advertised", rather than a device that fails later.
fn missing_features(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    for name in crate::vk::khr::EXTENSION_NAMES {
        ensure!(!gpu.has_extension(name)?, "{name:?} is listed");
    }
    Ok(())
}
