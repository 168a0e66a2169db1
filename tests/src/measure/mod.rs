//! Measurements of the benchmarks. One run measures both sides of a comparison: only ratios hold across machines.

pub mod calls;
pub mod cases;
pub mod compilers;
pub mod default_checks;
pub mod kernel;
pub mod large_message;
pub mod load;
pub mod loss;
pub mod shaders;
pub mod storm;

use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};

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

/// Median of `samples` measurements.
///
/// # Errors
///
/// A measurement fails, or `samples` is 0.
pub fn median(samples: usize, mut one: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let times = (0..samples).map(|_| one()).collect::<Result<Vec<_>>>()?;
    median_of(times).context("nothing was measured")
}

/// Medians of two measurements, which alternate so that changes of the machine's speed affect both.
///
/// # Errors
///
/// A measurement fails, or `samples` is 0.
pub fn medians(
    samples: usize,
    mut first: impl FnMut() -> Result<Duration>,
    mut second: impl FnMut() -> Result<Duration>,
) -> Result<(Duration, Duration)> {
    let (mut first_times, mut second_times) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        first_times.push(first()?);
        second_times.push(second()?);
    }
    let both = median_of(first_times).zip(median_of(second_times));
    both.context("nothing was measured")
}

/// Median of the times; none if there are none.
pub fn median_of(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort();
    times.get(times.len() / 2).copied()
}
