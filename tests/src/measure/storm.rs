//! Dispatches of a million invocations, some of which abort, or print with debugPrintf.

use super::{shaders, shortest};
use crate::case::Context;
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;
use shaders::Variant;
use std::time::{Duration, Instant};
use vkabort_runner::Measurement;

/// Invocations of a dispatch, in workgroups of 64.
const INVOCATIONS: u32 = 1 << 20;
/// Numbers of them that fail their check.
const FAILING: [u32; 6] = [0, 1, 64, 4096, 1 << 16, INVOCATIONS];
/// Words before those of the invocations: the number that fails, and far from it the counter.
const HEAD: usize = 65;
/// Samples per number; each creates a device and compiles a pipeline.
const SAMPLES: usize = 9;

const SHADER: &str = "layout(local_size_x = 64) in;\n\
    layout(std430, set = 0, binding = 0) buffer Words {\n\
    uint failing; uint apart[63]; uint failures; uint words[]; };\n\
    void main() {\n  const uint index = gl_GlobalInvocationID.x;\n\
    CHECK(index >= failing, \"storm %u\", index);\n  words[index] = index;\n}\n";

/// Measures the time from the submission to the end of the dispatch, or to the loss of the device.
///
/// # Errors
///
/// A call fails, or the dispatch does not end as expected.
pub fn measure(variant: Variant, mut each: impl FnMut(&Measurement)) -> Result<()> {
    let spirv = shaders::compile_compute(SHADER, variant)?;
    // One instance: NVIDIA's 580 refuses to be loaded again and again.
    let gpu = Gpu::open(&Context::default())?;
    for failing in FAILING {
        let time = shortest(SAMPLES, || once(&gpu, &spirv, variant, failing))?;
        let subject = format!("{failing} of {INVOCATIONS} invocations fail");
        each(&Measurement::new(
            &subject,
            variant.name(),
            "ms",
            time.as_secs_f64() * 1e3,
        ));
    }
    Ok(())
}

/// Frames of a program, of which [`IN_FLIGHT`] are in flight, and the invocations of each that print.
const FRAMES: u32 = 300;
const IN_FLIGHT: usize = 3;
const PRINTING: u32 = 64;

/// Measures the time of a frame of a program with three frames in flight, each of which prints.
///
/// # Errors
///
/// As [`measure`].
pub fn measure_frames(variant: Variant, mut each: impl FnMut(&Measurement)) -> Result<()> {
    let spirv = shaders::compile_compute(SHADER, variant)?;
    let gpu = Gpu::open(&Context::default())?;
    let time = shortest(SAMPLES, || frames(&gpu, &spirv))?;
    let subject = format!("a frame of which {PRINTING} invocations fail");
    let milliseconds = time.as_secs_f64() * 1e3 / f64::from(FRAMES);
    each(&Measurement::new(&subject, variant.name(), "ms", milliseconds));
    Ok(())
}

fn frames(gpu: &Gpu, spirv: &[u32]) -> Result<Duration> {
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    let device = Device::with(gpu, options)?;
    let buffer = Buffer::near(&device, &[&[PRINTING][..], &[0; HEAD + (1 << 16)]].concat())?;
    let kernel = Kernel::new(&device, spirv, &[&buffer])?;
    let submissions = (0..FRAMES)
        .map(|_| kernel.record((1 << 16) / 64))
        .collect::<Result<Vec<_>>>()?;
    let start = Instant::now();
    for (number, submission) in submissions.iter().enumerate() {
        if let Some(oldest) = number.checked_sub(IN_FLIGHT).and_then(|number| submissions.get(number)) {
            ensure!(oldest.wait() == vk::Result::SUCCESS, "a frame was lost");
        }
        ensure!(submission.submit() == vk::Result::SUCCESS, "a submission was refused");
    }
    for submission in submissions.iter().rev().take(IN_FLIGHT) {
        ensure!(submission.wait() == vk::Result::SUCCESS, "a frame was lost");
    }
    Ok(start.elapsed())
}

fn once(gpu: &Gpu, spirv: &[u32], variant: Variant, failing: u32) -> Result<Duration> {
    let aborts = variant == Variant::Layer;
    let options = DeviceOptions {
        abort: aborts,
        ..DeviceOptions::default()
    };
    let device = Device::with(gpu, options)?;
    let mut words = vec![0; HEAD + INVOCATIONS as usize];
    words[0] = failing;
    let buffer = Buffer::near(&device, &words)?;
    let kernel = Kernel::new(&device, spirv, &[&buffer])?;
    let submission = kernel.record(INVOCATIONS / 64)?;
    let start = Instant::now();
    let result = submission.run();
    let time = start.elapsed();
    let expected = match aborts && failing > 0 {
        true => vk::Result::ERROR_DEVICE_LOST,
        false => vk::Result::SUCCESS,
    };
    ensure!(result == expected, "the dispatch ended with {result:?}");
    Ok(time)
}
