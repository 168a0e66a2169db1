//! Helpers for the cases.

use crate::case::Context;
use crate::glsl;
use crate::payload::Payload;
use crate::vk::khr::FaultInfo;
use crate::vk::{Buffer, Chained, Device, DeviceOptions, Gpu, Image, Kernel, Pass, ShaderSource, Stage, WordKernel};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use std::ffi::CStr;
use vkabort_gpu::Messages;

/// Words in the storage buffer of most shaders, and invocations of most dispatches.
pub(super) const COUNT: usize = 64;
/// Workgroups of most dispatches, with 32 invocations each.
pub(super) const GROUPS: u32 = 2;
/// Value of a word that makes its invocation abort.
pub(super) const MARK: u32 = 7;

/// Result of calls on a lost device.
pub(super) const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;

/// Words 100, 101, .. with [`MARK`] at `indices`.
pub(super) fn marked(indices: &[usize]) -> Vec<u32> {
    (0..COUNT)
        .map(|i| if indices.contains(&i) { MARK } else { 100 + i as u32 })
        .collect()
}

/// [`marked`] words, with one mark if `aborts`.
pub(super) fn words(aborts: bool) -> Vec<u32> {
    marked(if aborts { &[3] } else { &[] })
}

pub(super) use vkabort_oracle::words::to_bytes as bytes;

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

/// Expects validation errors for the 8-bit strings of GLSL's aborts: see [`Device::with`].
pub(super) fn expect_narrow(messages: &Messages) {
    messages.expect("declares SPIR-V Capability Int8");
    messages.expect("SPIR-V Capability Int8 was declared");
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

/// Checks that a call reports the loss of the device.
pub(super) fn expect_lost(result: vk::Result) -> Result<()> {
    ensure!(result == LOST, "{result:?}, expected ERROR_DEVICE_LOST");
    Ok(())
}

/// Checks that a call succeeded.
pub(super) fn expect_success(result: vk::Result) -> Result<()> {
    ensure!(result == vk::Result::SUCCESS, "{result:?}, expected SUCCESS");
    Ok(())
}

/// Checks the result of a call: `ERROR_DEVICE_LOST` if `aborts`, else `SUCCESS`.
pub(super) fn expect(result: vk::Result, aborts: bool, call: &str) -> Result<()> {
    expect_end(result, aborts).with_context(|| call.to_owned())
}

/// Checks submissions: if one of them `aborts`, each may see the loss.
pub(super) fn expect_submitted(results: &[vk::Result], aborts: bool) -> Result<()> {
    let fits = |&result: &vk::Result| result == vk::Result::SUCCESS || aborts && result == LOST;
    ensure!(results.iter().all(fits), "the submissions ended with {results:?}");
    Ok(())
}

/// Payload of invocation `i` of the simplest shader with an abort.
pub(super) fn entry_point_payload(i: usize) -> Vec<u8> {
    Payload::text("word %u is %u").scalar(i as u32).scalar(MARK).bytes()
}

/// Checks the end of the simplest shader with an abort over [`marked`] words: its result, its words and its messages.
pub(super) fn check_entry_point(
    device: &Device<'_>,
    result: vk::Result,
    words: &[u32],
    aborting: &[usize],
) -> Result<()> {
    expect_end(result, !aborting.is_empty())?;
    same_words(words, &incremented(&marked(aborting)))?;
    let expected = aborting.iter().map(|&i| entry_point_payload(i)).collect();
    same_set(payloads_if_lost(device, result)?, expected)
}

/// Runs a shader of `shaders/` over these words and expects a lost device. Returns the final words and the payloads in
/// order.
pub(super) fn run_to_loss(gpu: &Gpu, shader: &str, words: &[u32]) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
    run(&Device::new(gpu)?, &glsl::compile(shader)?, words)?.lost()
}

/// A kernel of the simplest shader with an abort.
pub(super) fn entry_point<'device>(device: &'device Device<'device>, words: &[u32]) -> Result<WordKernel<'device>> {
    WordKernel::new(device, &glsl::compile("abort/entry_point.comp")?, words)
}

/// Outcome of a dispatch or a draw.
pub(super) struct Ran {
    pub(super) result: vk::Result,
    /// The final words of its buffer.
    pub(super) words: Vec<u32>,
    /// The payloads in order, if the device is lost.
    pub(super) payloads: Vec<Vec<u8>>,
}

impl Ran {
    /// Expects success. Returns the words.
    pub(super) fn succeeded(self) -> Result<Vec<u32>> {
        expect_success(self.result)?;
        Ok(self.words)
    }

    /// Expects a lost device. Returns the words and the payloads.
    pub(super) fn lost(self) -> Result<(Vec<u32>, Vec<Vec<u8>>)> {
        expect_lost(self.result)?;
        Ok((self.words, self.payloads))
    }
}

/// Runs a compute shader over these words.
pub(super) fn run(device: &Device<'_>, spirv: &[u32], words: &[u32]) -> Result<Ran> {
    run_specialised(device, spirv, &[], words)
}

/// [`run`] with the bytes of specialisation constants, by `SpecId`.
pub(super) fn run_specialised(
    device: &Device<'_>,
    spirv: &[u32],
    special: &[(u32, Vec<u8>)],
    words: &[u32],
) -> Result<Ran> {
    let buffer = Buffer::storage(device, words)?;
    let mut kernel = Kernel::bound(device, &[&buffer])?;
    kernel.create(spirv, special, None)?;
    run_kernel(device, &kernel, &buffer)
}

/// Dispatches a kernel of one buffer.
pub(super) fn run_kernel(device: &Device<'_>, kernel: &Kernel<'_>, buffer: &Buffer<'_>) -> Result<Ran> {
    let (_submission, result) = kernel.run(GROUPS)?;
    let payloads = payloads_if_lost(device, result)?;
    Ok(Ran {
        result,
        words: buffer.read(),
        payloads,
    })
}

/// Compiles shaders for the stages that their file names' extensions name.
pub(super) fn compile_stages(shaders: &[&str]) -> Result<Vec<(vk::ShaderStageFlags, Vec<u32>)>> {
    compile_stages_by(shaders, glsl::compile)
}

/// [`compile_stages`] with another compiler.
pub(super) fn compile_stages_by(
    shaders: &[&str],
    by: fn(&str) -> Result<Vec<u32>>,
) -> Result<Vec<(vk::ShaderStageFlags, Vec<u32>)>> {
    let compile = |shader: &&str| {
        let stage = shader.rsplit('.').next().and_then(glsl::stage_of);
        let stage = stage.with_context(|| format!("{shader} has no extension of a shader stage"))?;
        Ok((stage, by(shader)?))
    };
    shaders.iter().map(compile).collect()
}

/// Draws with these shaders, push constants and buffers.
pub(super) fn draw<'a, 'device: 'a>(
    device: &'device Device<'device>,
    shaders: &[&str],
    buffers: &[&'a Buffer<'a>],
    source: ShaderSource,
    push: [u32; 2],
) -> Result<(Image<'device>, vk::Result)> {
    draw_compiled(device, &compile_stages(shaders)?, buffers, source, push)
}

/// [`draw`] with compiled shaders.
pub(super) fn draw_compiled<'a, 'device: 'a>(
    device: &'device Device<'device>,
    compiled: &[(vk::ShaderStageFlags, Vec<u32>)],
    buffers: &[&'a Buffer<'a>],
    source: ShaderSource,
    push: [u32; 2],
) -> Result<(Image<'device>, vk::Result)> {
    let stages = compiled.iter().map(|(kind, spirv)| Stage::new(*kind, spirv));
    let image = Image::new(device)?;
    let pass = Pass::with(device, &stages.collect::<Vec<_>>(), buffers, source)?;
    let result = pass.record(&image, push)?.run();
    Ok((image, result))
}

/// [`draw`] over a buffer of 256 words, which start as zeros.
pub(super) fn draw_with_words<'device>(
    device: &'device Device<'device>,
    shaders: &[&str],
    push: [u32; 2],
) -> Result<(Image<'device>, Ran)> {
    let buffer = Buffer::storage(device, &[0; 256])?;
    let (image, result) = draw(device, shaders, &[&buffer], ShaderSource::Modules, push)?;
    let ran = Ran {
        result,
        payloads: payloads_if_lost(device, result)?,
        words: buffer.read(),
    };
    Ok((image, ran))
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
    let ran = run(device, &glsl::compile("abort/entry_point.comp")?, &words(aborts))?;
    expect_end(ran.result, aborts)?;
    ensure!(ran.payloads.len() == usize::from(aborts));
    Ok(())
}

/// Checks the payloads of a lost device.
pub(super) fn expect_payloads(device: &Device<'_>, expected: &[Vec<u8>]) -> Result<()> {
    let found = device.payloads()?;
    ensure!(found == expected, "found {found:?}, expected {expected:?}");
    Ok(())
}

/// Reports of a device, which has at least one.
pub(super) fn reports(device: &Device<'_>) -> Result<Vec<FaultInfo>> {
    let (result, reports) = device.fault()?.reports(0, 100);
    expect_success(result)?;
    Ok(reports)
}

/// Checks the result and the count of a query for `total` elements into an array with room for `room`.
pub(super) fn expect_room(result: vk::Result, count: u32, room: u32, total: u32) -> Result<()> {
    let expected = if room < total {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    };
    let message = || format!("{result:?}, {count} of {total} with room for {room}");
    ensure!(result == expected && count == room.min(total), message());
    Ok(())
}

/// Checks that a healthy device has no reports.
pub(super) fn expect_no_reports(device: &Device<'_>) -> Result<()> {
    let found = device.fault()?.report_count(0);
    ensure!(found == (vk::Result::TIMEOUT, 0), "a healthy device has {found:?}");
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
