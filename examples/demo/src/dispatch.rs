//! One dispatch of `look_up.comp` on a device of its own.

use crate::failure::Failure;
use anyhow::{Context as _, Result};
use ash::vk;
use vkabort_gpu::{Buffer, Device, ExtraDeviceInfo, Gpu, Kernel, describe, with_create_info};

/// The shader, as `shaders/look_up.comp` compiles.
const SHADER: &[u8] = include_bytes!("../shaders/look_up.spv");
/// The same with its text in words, for devices without 8-bit integers.
const SHADER_WORDS: &[u8] = include_bytes!("../shaders/look_up_words.spv");

/// Invocations of the dispatch.
pub const INVOCATIONS: usize = 64;
/// Entries of the table.
pub const TABLE: usize = 16;

/// The entry of the table at `index`.
pub fn table_entry(index: u32) -> f32 {
    // Exact: the table is small.
    index as f32 * 0.5 + 100.0
}

/// The shader in the form that the device supports.
pub fn shader(gpu: &Gpu) -> Vec<u32> {
    let bytes = if gpu.has_int8() { SHADER } else { SHADER_WORDS };
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| u32::from_le_bytes(*word)).collect()
}

/// Opens the fastest device of this machine.
///
/// # Errors
///
/// [`Failure::NoDevice`].
pub fn open() -> Result<Gpu> {
    let application = vk::ApplicationInfo::default()
        .application_name(c"vkabort-demo")
        .api_version(vk::API_VERSION_1_2);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    let gpu = Gpu::loader().and_then(|entry| Gpu::create(entry, &info, None, None));
    gpu.map_err(|error| Failure::NoDevice(describe(&error)).into())
}

/// A dispatch that has ended.
pub struct Ended<'device> {
    /// The device.
    pub device: &'device Device<'device>,
    /// The calls, with their results, up to the first error.
    pub calls: Vec<(&'static str, vk::Result)>,
    /// The values that the shader stored.
    pub results: Vec<f32>,
}

/// Creates a device with the extensions for aborts, looks up `indices`, and lets `read` see the outcome before the device is
/// destroyed.
///
/// # Errors
///
/// A call before the submission fails, or `read` does.
pub fn look_up(gpu: &Gpu, indices: &[u32; INVOCATIONS], read: impl FnOnce(&Ended<'_>) -> Result<()>) -> Result<()> {
    // SAFETY: the physical device is one of the living instance.
    let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(gpu.physical) };
    let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
    let family = families.iter().position(computes).context("no queue computes")? as u32;
    // The text of a GLSL message is an array of bytes.
    let mut int8 = vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_int8(true);
    let mut more = ExtraDeviceInfo::default();
    if gpu.has_int8() {
        more.features.push(&mut int8);
    }
    let device = with_create_info(family, true, more, |info| Device::create(gpu, &info, family))?;
    // Indices, table, results.
    let mut words = indices.to_vec();
    words.extend((0..TABLE as u32).map(|index| table_entry(index).to_bits()));
    words.extend([0; INVOCATIONS]);
    let buffer = Buffer::storage(&device, &words)?;
    let kernel = Kernel::new(&device, &shader(gpu), &[&buffer])?;
    let submission = kernel.record(INVOCATIONS as u32 / 32)?;
    let mut calls = vec![("vkQueueSubmit", submission.submit())];
    if calls[0].1 == vk::Result::SUCCESS {
        calls.push(("vkWaitForFences", submission.wait()));
    }
    let results = buffer.read().into_iter().skip(INVOCATIONS + TABLE);
    read(&Ended {
        device: &device,
        calls,
        results: results.map(f32::from_bits).collect(),
    })
}
