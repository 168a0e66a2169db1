//! What benchmarks measure, each comparison in one run: ratios mean something, times of different machines do not.

pub mod calls;
pub mod driver_process;
pub mod kernel;
pub mod large_message;
pub mod loss;

use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};

/// How long something takes.
///
/// # Errors
///
/// It fails.
pub fn time(measured: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = Instant::now();
    measured()?;
    Ok(start.elapsed())
}

/// The median of so many times.
///
/// # Errors
///
/// One fails, or there is none.
pub fn median(samples: usize, mut one: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let times = (0..samples).map(|_| one()).collect::<Result<Vec<_>>>()?;
    middle(times).context("nothing was measured")
}

/// The medians of so many times of two things, measured in turn, so that a change of the machine's speed meets both.
///
/// # Errors
///
/// One fails, or there is none.
pub fn medians(
    samples: usize,
    mut first: impl FnMut() -> Result<Duration>,
    mut second: impl FnMut() -> Result<Duration>,
) -> Result<(Duration, Duration)> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        ours.push(first()?);
        theirs.push(second()?);
    }
    let both = middle(ours).zip(middle(theirs));
    both.context("nothing was measured")
}

fn middle(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort();
    times.get(times.len() / 2).copied()
}
