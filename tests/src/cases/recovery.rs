//! The process continues after a loss with a new device, repeatedly.

use super::support::{expect_no_reports, incremented, marked, run, same_words};
use crate::case::{Case, Context, cases};
use crate::glsl;
use crate::vk::{Device, DeviceOptions, Gpu};
use anyhow::{Result, ensure};

pub(super) const CASES: &[Case] = cases! {
    "recovery::a_new_device_is_healthy" => new_device(gpu);
    "recovery::a_new_instance_is_healthy" => new_instance(context);
    "recovery::fifty_times" => fifty_times(gpu), within(120);
    "recovery::an_application_with_buffer_device_addresses" => with_addresses(gpu);
};

/// Runs the shader without an abort on a new device.
fn healthy(gpu: &Gpu, spirv: &[u32]) -> Result<()> {
    let device = Device::new(gpu)?;
    let words = marked(&[]);
    let after = run(&device, spirv, &words)?.succeeded()?;
    expect_no_reports(&device)?;
    same_words(&after, &incremented(&words))
}

fn new_device(gpu: &Gpu) -> Result<()> {
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let lost = Device::new(gpu)?;
    run(&lost, &spirv, &marked(&[3]))?.lost()?;
    // While the lost device exists, and after it.
    healthy(gpu, &spirv)?;
    drop(lost);
    healthy(gpu, &spirv)
}

fn new_instance(context: &Context) -> Result<()> {
    let spirv = glsl::compile("abort/entry_point.comp")?;
    for _ in 0..3 {
        let gpu = Gpu::open(context)?;
        let device = Device::new(&gpu)?;
        let (_, payloads) = run(&device, &spirv, &marked(&[3]))?.lost()?;
        ensure!(payloads.len() == 1, "{} messages", payloads.len());
        healthy(&gpu, &spirv)?;
    }
    Ok(())
}

fn fifty_times(gpu: &Gpu) -> Result<()> {
    let spirv = glsl::compile("abort/entry_point.comp")?;
    for round in 0..50 {
        let device = Device::new(gpu)?;
        let (_, payloads) = run(&device, &spirv, &marked(&[round, 63]))?.lost()?;
        ensure!(payloads.len() == 2, "{} messages in round {round}", payloads.len());
    }
    Ok(())
}

fn with_addresses(gpu: &Gpu) -> Result<()> {
    let device = Device::with(gpu, DeviceOptions::ADDRESSES)?;
    let (_, payloads) = run(&device, &glsl::compile("abort/entry_point.comp")?, &marked(&[3]))?.lost()?;
    ensure!(payloads.len() == 1, "{} messages", payloads.len());
    Ok(())
}
