//! Cost of the checks of the memory checker, and of those that GPU-AV has, too: the same dispatch with and without each. The settings
//! of the process select the check, so that one process measures one side.

use super::memory_shaders::{HEAD, checks, compile};
use super::shaders::{Shader, Variant};
use super::{rounds, shortest};
use crate::case::{Context, Skip};
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::time::Instant;
use vkabort_instrument::{Check, Checks, Options, Outcome, instrument};
use vkabort_runner::Measurement;

/// Dispatches per shader.
const SAMPLES: usize = 15;
/// Workgroups, of 64 invocations each.
const GROUPS: u32 = 512;

/// Measures the shader of `check`, which the settings of the process select for `variant`; without it the shaders of all checks.
///
/// # Errors
///
/// A call fails, or there is nothing to check in the shader.
pub fn measure(variant: Variant, check: Option<Check>, mut each: impl FnMut(&Measurement)) -> Result<()> {
    let context = Context::default();
    let gpu = Gpu::open(&context)?;
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::ADDRESSES
    };
    let device = Device::with(&gpu, options)?;
    let values = Buffer::addressed(&device, &[1; 1024], vk::BufferUsageFlags::STORAGE_BUFFER)?;
    let words = words(rounds(&gpu), values.address());
    if let (Variant::GpuAv, Some(check)) = (variant, check) {
        prove(&device, &context, check)?;
    }
    for of in checks().filter(|of| check.is_none_or(|check| check == *of)) {
        let shader = Shader::Memory(of);
        let modules = shader.compile(Variant::Unchecked)?.context("a shader without checks")?;
        let spirv = modules.into_iter().next().context("a module")?;
        ensure!(has_site(&spirv, of)?, "{}: the shader has no place for it", of.name());
        let buffer = Buffer::near(&device, &words)?;
        let kernel = Kernel::new(&device, &spirv, &[&buffer])?;
        let time = || {
            let submission = kernel.record(GROUPS)?;
            let start = Instant::now();
            let result = submission.run();
            let time = start.elapsed();
            ensure!(result == vk::Result::SUCCESS, "{} ended with {result:?}", shader.name());
            Ok(time)
        };
        time()?;
        let time = shortest(SAMPLES, time)?;
        each(&Measurement::new(
            &shader.name(),
            variant.name(),
            "ms",
            time.as_secs_f64() * 1e3,
        ));
    }
    ensure!(context.messages.take().is_empty(), "a shader has a fault");
    Ok(())
}

/// The words of the shaders' buffer.
fn words(rounds: u32, address: u64) -> Vec<u32> {
    let mut words = vec![1; HEAD + 1024 + 64 * GROUPS as usize];
    words.splice(..HEAD, [rounds, 8, address as u32, (address >> 32) as u32]);
    words
}

/// Runs a fault, which the validation layer must find: its settings have an effect. Skips a check that it disables on the device.
fn prove(device: &Device<'_>, context: &Context, check: Check) -> Result<()> {
    // What is beyond it is in the same block of the heap.
    let values = Buffer::addressed(device, &[1; 1022], vk::BufferUsageFlags::STORAGE_BUFFER)?;
    let buffer = Buffer::near(device, &words(1, values.address()))?;
    let kernel = Kernel::new(device, &compile(check, true)?, &[&buffer])?;
    let result = kernel.run_to_end(GROUPS)?;
    ensure!(result == vk::Result::SUCCESS, "the fault ended with {result:?}");
    let messages = context.messages.take();
    let [found, setting] = match check {
        Check::Addresses => [
            "VUID-RuntimeSpirv-PhysicalStorageBuffer64-11819",
            "gpuav_buffer_address_oob",
        ],
        _ => ["SharedMemoryDataRace-", "gpuav_shared_memory_data_race"],
    };
    let has = |text: &str| messages.iter().any(|message| message.contains(text));
    if !has(found) && has(&format!("[Disabling {setting}]")) {
        return Err(Skip(format!(
            "the validation layer disables its check of {} here",
            check.name()
        ))
        .into());
    }
    ensure!(has(found), "no error of the check {}: {messages:?}", check.name());
    Ok(())
}

/// Whether the check is planted into a module.
fn has_site(words: &[u32], check: Check) -> Result<bool> {
    let mut options = Options::default();
    options.sanitize.checks = Checks::of([check]);
    Ok(match instrument(words, &options)? {
        Outcome::Instrumented(planted) => !planted.sites.sites.is_empty(),
        Outcome::Unchanged => false,
    })
}
