//! Runs a benchmark in a child process, in the environment of a driver.

use crate::harness::{Placement, environment};
use anyhow::{Context as _, Result, bail};
use std::process::ExitCode;
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::layer::Layer;
use vkabort_test_kit::scratch;

/// Environment variable with the driver's name; set in the child process.
const DRIVER: &str = "BENCH_DRIVER";

/// Main function of a benchmark: `start` calls [`run`] for each driver, `measure` runs in the child process.
pub fn main(start: fn() -> Result<()>, measure: fn(&str) -> Result<()>) -> ExitCode {
    let result = match std::env::var(DRIVER) {
        Ok(driver) => measure(&driver),
        Err(_) => start(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs this program on a driver with these environment variables. The loader finds the layer.
///
/// # Errors
///
/// The process cannot be started or fails.
pub fn run(driver: &Driver, layer: &Layer, placement: Placement, variables: &[(&str, String)]) -> Result<()> {
    let scratch = scratch::folder()?;
    let current = std::env::current_dir()?;
    let mut command = environment(driver, layer, placement, scratch.path())?.command(&std::env::current_exe()?)?;
    let status = command
        .args(std::env::args_os().skip(1))
        .env(DRIVER, &driver.name)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env("VK_LAYER_PATH", &layer.explicit)
        .env("CARGO_TARGET_DIR", vkabort_test_kit::target())
        .current_dir(current)
        .status()
        .context("cannot start the benchmark")?;
    if !status.success() {
        bail!("the benchmark on {} ended with {status}", driver.name);
    }
    Ok(())
}
