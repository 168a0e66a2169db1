//! Measurements of the benchmarks. One run measures both sides of a comparison: only ratios hold across machines.

pub mod calls;
pub mod cases;
pub mod compilers;
pub mod default_checks;
pub mod kernel;
pub mod large_message;
pub mod load;
pub mod loss;
pub mod memory_checks;
pub mod memory_shaders;
pub mod recording;
pub mod shaders;
pub mod storm;

use crate::vk::Gpu;
use anyhow::{Context as _, Result};
use ash::vk::PhysicalDeviceType;
use std::time::{Duration, Instant};

/// Iterations of a loop in a dispatch that takes milliseconds: 64 on a CPU. A GPU would end these in less time than a submission takes.
pub fn rounds(gpu: &Gpu) -> u32 {
    match gpu.properties.device_type {
        PhysicalDeviceType::CPU => 64,
        _ => 64 << 8,
    }
}

/// Times a call.
///
/// # Errors
///
/// The call fails.
pub fn time(measured: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    measured()?;
    Ok(start.elapsed())
}

/// The shortest of `samples` times: other work on the machine only adds to them.
///
/// # Errors
///
/// A measurement fails, or `samples` is 0.
pub fn shortest(samples: usize, one: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let times = std::iter::repeat_with(one).take(samples).collect::<Result<Vec<_>>>()?;
    times.into_iter().min().context("nothing was measured")
}

/// The shortest times of two measurements, which alternate so that changes of the machine's speed affect both.
///
/// # Errors
///
/// A measurement fails, or `samples` is 0.
pub fn shortest_of_each(
    samples: usize,
    mut first: impl FnMut() -> Result<Duration>,
    mut second: impl FnMut() -> Result<Duration>,
) -> Result<(Duration, Duration)> {
    let (mut first_time, mut second_time) = (None::<Duration>, None::<Duration>);
    for _ in 0..samples {
        let (one, other) = (first()?, second()?);
        first_time = Some(first_time.map_or(one, |time| time.min(one)));
        second_time = Some(second_time.map_or(other, |time| time.min(other)));
    }
    first_time.zip(second_time).context("nothing was measured")
}
