//! Measuring on a driver: the same program runs again in the driver's environment, which a process cannot change for
//! itself.

use crate::harness::{Placement, Scratch, environment};
use anyhow::{Context as _, Result, bail};
use std::process::ExitCode;
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::layer::Layer;

/// Set in the process that measures: the driver's name.
const INNER: &str = "BENCH_DRIVER";

/// `start` says by [`again`] where to measure, and `measure` does it.
pub fn main(start: fn() -> Result<()>, measure: fn(&str) -> Result<()>) -> ExitCode {
    let result = match std::env::var(INNER) {
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

/// Runs this program again on a driver, with the layer where the loader finds it, and with more variables.
///
/// # Errors
///
/// It does not start, or fails.
pub fn again(driver: &Driver, layer: &Layer, placement: Placement, variables: &[(&str, String)]) -> Result<()> {
    let scratch = Scratch::new()?;
    let here = std::env::current_dir()?;
    let mut command = environment(driver, layer, placement, &scratch.0)?.command(&std::env::current_exe()?)?;
    let status = command
        .args(std::env::args_os().skip(1))
        .env(INNER, &driver.name)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env("VK_LAYER_PATH", &layer.explicit)
        .env("CARGO_TARGET_DIR", vkabort_test_kit::target())
        .current_dir(here)
        .status()
        .context("cannot start the measurement")?;
    if !status.success() {
        bail!("the measurement on {} ended with {status}", driver.name);
    }
    Ok(())
}
