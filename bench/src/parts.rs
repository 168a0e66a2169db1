//! The parts of the benchmark: which processes each runs, and what those processes measure.

use crate::job::{Job, Layers};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::time::Duration;
use vkabort_tests::gpu_matrix::DEVICES;
use vkabort_tests::measure::compilers;
use vkabort_tests::measure::measurement::Measurement;
use vkabort_tests::measure::shaders::{Shader, Variant};

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// The benchmark shaders on the compilers of real GPUs, which do not execute: code, registers, compile time.
    Compilers,
}

impl Part {
    /// The processes of this part; `gpus` limits the GPUs if it is not empty.
    ///
    /// # Errors
    ///
    /// A driver is not installed.
    pub fn jobs(self, gpus: &[String]) -> Result<Vec<Job>> {
        match self {
            Self::Compilers => compiler_jobs(gpus),
        }
    }
}

fn compiler_jobs(gpus: &[String]) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for device in DEVICES {
        let name = device.gpu.name();
        if !gpus.is_empty() && !gpus.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let driver = device.gpu.driver().map_err(anyhow::Error::msg)?;
        for layers in [Layers::None, Layers::Ours, Layers::Validation] {
            jobs.push(Job {
                driver: driver.clone(),
                layers,
                measurement: format!("compilers {layers:?}"),
                limit: Duration::from_secs(60),
            });
        }
    }
    Ok(jobs)
}

/// Measures in this process, and prints a line of JSON for each number.
///
/// # Errors
///
/// The name is unknown, or a call fails.
pub fn measure(name: &str) -> Result<()> {
    let (part, argument) = name.split_once(' ').context("a measurement has two words")?;
    let print = |measurement: &Measurement| println!("{}", measurement.to_line());
    match (part, argument) {
        ("compilers", "None") => compilers::measure(
            &Shader::set(),
            &[Variant::Unchecked, Variant::Return, Variant::Native],
            print,
        ),
        ("compilers", "Ours") => compilers::measure(&Shader::set(), &[Variant::Layer], print),
        ("compilers", "Validation") => compilers::measure(&Shader::set(), &[Variant::Printf], print),
        _ => bail!("unknown measurement {name}"),
    }
}
