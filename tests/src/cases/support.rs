//! Helpers for the cases.

use crate::vk::{Buffer, Chained, Device, DeviceOptions, Gpu, Kernel};
use crate::{case::Context, glsl};
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CStr;

/// Words in the storage buffer of most shaders, and invocations of most dispatches.
pub(super) const COUNT: usize = 64;
/// Workgroups of most dispatches, with 32 invocations each.
pub(super) const GROUPS: u32 = 2;
/// Value of a word that makes its invocation abort.
pub(super) const MARK: u32 = 7;

/// Words 100, 101, .. with [`MARK`] at `indices`.
pub(super) fn marked(indices: &[usize]) -> Vec<u32> {
    (0..COUNT)
        .map(|i| if indices.contains(&i) { MARK } else { 100 + i as u32 })
        .collect()
}

/// Words after the shaders that add 1000 to their word, unless it is [`MARK`].
pub(super) fn incremented(words: &[u32]) -> Vec<u32> {
    words
        .iter()
        .map(|&word| if word == MARK { MARK } else { word + 1000 })
        .collect()
}

/// Opens the driver with instance extensions.
pub(super) fn open_with_extensions(context: &Context, api_version: u32, extensions: &[&CStr]) -> Result<Gpu> {
    let chained = Chained {
        extensions,
        ..Chained::default()
    };
    Gpu::open_with(context, api_version, &chained)
}

/// Creates a device that does not enable the abort extensions.
pub(super) fn without_abort(gpu: &Gpu) -> Result<Device<'_>> {
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    Device::with(gpu, options)
}

/// Payloads of a lost device; none of a healthy one, whose messages must not be queried
/// (VUID-vkGetDeviceFaultDebugInfoKHR-device-12383).
pub(super) fn payloads_if_lost(device: &Device<'_>, result: vk::Result) -> Result<Vec<Vec<u8>>> {
    match result {
        vk::Result::ERROR_DEVICE_LOST => device.payloads(),
        _ => Ok(Vec::new()),
    }
}

/// Checks that a submission lost the device.
pub(super) fn expect_lost(result: vk::Result) -> Result<()> {
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the submission ended with {result:?}, expected ERROR_DEVICE_LOST"
    );
    Ok(())
}

/// Checks that a submission succeeded.
pub(super) fn expect_success(result: vk::Result) -> Result<()> {
    ensure!(
        result == vk::Result::SUCCESS,
        "the submission ended with {result:?}, expected SUCCESS"
    );
    Ok(())
}

/// Runs a shader of `shaders/` over these words and expects a lost device. Returns the final words and the payloads in
/// order.
pub(super) fn run_to_loss(context: &Context, shader: &str, words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    run_words_to_loss(&device, &glsl::compile(shader)?, words)
}

/// [`run_to_loss`] with SPIR-V on an existing device.
pub(super) fn run_words_to_loss(device: &Device<'_>, spirv: &[u32], words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
    let buffer = Buffer::storage(device, words)?;
    let kernel = Kernel::new(device, spirv, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_lost(result)?;
    Ok((buffer.read(), device.payloads()?))
}

/// Checks that a submission lost the device if `aborts`, and succeeded otherwise.
pub(super) fn expect_end(result: vk::Result, aborts: bool) -> Result<()> {
    if aborts {
        expect_lost(result)
    } else {
        expect_success(result)
    }
}

/// Runs the simplest shader with an abort. Expects a lost device with one message if `aborts`, success otherwise.
pub(super) fn run_entry_point(device: &Device<'_>, aborts: bool) -> Result<()> {
    let buffer = Buffer::storage(device, &marked(if aborts { &[3] } else { &[] }))?;
    let kernel = Kernel::new(device, &glsl::compile("abort/entry_point.comp")?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    if !aborts {
        expect_success(result)?;
        return Ok(());
    }
    expect_lost(result)?;
    let count = device.payloads()?.len();
    ensure!(count == 1, "{count} messages");
    Ok(())
}

/// Compares lists of payloads regardless of order.
pub(super) fn same_set(mut found: Vec<Vec<u8>>, mut expected: Vec<Vec<u8>>) -> Result<()> {
    found.sort();
    expected.sort();
    for payload in &expected {
        ensure!(
            found.contains(payload),
            "expected {}\nfound    {}",
            vkabort_record::hex::hex(payload),
            found
                .iter()
                .map(|payload| vkabort_record::hex::hex(payload))
                .collect::<Vec<_>>()
                .join("\n         ")
        );
    }
    ensure!(
        found.len() == expected.len(),
        "{} messages, expected {}",
        found.len(),
        expected.len()
    );
    Ok(())
}

/// Compares buffers word by word.
pub(super) fn same_words(found: &[u32], expected: &[u32]) -> Result<()> {
    ensure!(
        found.len() == expected.len(),
        "{} words, expected {}",
        found.len(),
        expected.len()
    );
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        ensure!(found == expected, "word {i} is {found}, expected {expected}");
    }
    Ok(())
}
