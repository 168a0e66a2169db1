//! The process continues after a loss with a new device, repeatedly.

use super::support::{GROUPS, expect_success, marked, run_words_to_loss, same_words};
use crate::case::{Case, Context};
use crate::glsl;
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("recovery::a_new_device_is_healthy", new_device),
    Case::new("recovery::a_new_instance_is_healthy", new_instance),
    Case::new("recovery::fifty_times", fifty_times).within(120),
    Case::new("recovery::an_application_with_buffer_device_addresses", with_addresses),
];

/// Runs the shader without an abort on a new device.
fn healthy(gpu: &Gpu, spirv: &[u32]) -> Result<()> {
    let device = Device::new(gpu)?;
    let words = marked(&[]);
    let buffer = Buffer::storage(&device, &words)?;
    let kernel = Kernel::new(&device, spirv, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_success(result)?;
    ensure!(
        device.fault()?.report_count(0) == (vk::Result::TIMEOUT, 0),
        "a new device has fault reports"
    );
    same_words(
        &buffer.read(),
        &words.iter().map(|word| word + 1000).collect::<Vec<_>>(),
    )
}

fn new_device(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let spirv = glsl::compile("abort/entry_point.comp")?;
    let lost = Device::new(&gpu)?;
    run_words_to_loss(&lost, &spirv, &marked(&[3]))?;
    // While the lost device exists, and after it.
    healthy(&gpu, &spirv)?;
    drop(lost);
    healthy(&gpu, &spirv)
}

fn new_instance(context: &Context) -> Result<()> {
    let spirv = glsl::compile("abort/entry_point.comp")?;
    for _ in 0..3 {
        let gpu = Gpu::open(context)?;
        let device = Device::new(&gpu)?;
        let (_, payloads) = run_words_to_loss(&device, &spirv, &marked(&[3]))?;
        ensure!(payloads.len() == 1, "{} messages", payloads.len());
        healthy(&gpu, &spirv)?;
    }
    Ok(())
}

fn fifty_times(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let spirv = glsl::compile("abort/entry_point.comp")?;
    for round in 0..50 {
        let device = Device::new(&gpu)?;
        let (_, payloads) = run_words_to_loss(&device, &spirv, &marked(&[round, 63]))?;
        ensure!(payloads.len() == 2, "{} messages in round {round}", payloads.len());
    }
    Ok(())
}

fn with_addresses(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let options = DeviceOptions {
        buffer_device_address: true,
        ..DeviceOptions::default()
    };
    let device = Device::with(&gpu, options)?;
    let (_, payloads) = run_words_to_loss(&device, &glsl::compile("abort/entry_point.comp")?, &marked(&[3]))?;
    ensure!(payloads.len() == 1, "{} messages", payloads.len());
    Ok(())
}
