//! Cost of the layer in calls unrelated to aborts: submissions, recordings, shader modules and pipelines, with and without the layer,
//! on the test driver (which adds almost no time of its own) and on lavapipe.
//!
//!     cargo bench --workspace --bench overhead
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark that cannot run stops"
)]

use anyhow::{Context as _, Result};
use criterion::{BenchmarkId, Criterion};
use std::process::ExitCode;
use vkabort_test_kit::drivers::TestDriver;
use vkabort_tests::harness::Placement;
use vkabort_tests::measure::calls::{Calls, SETUPS, shaders};
use vkabort_tests::measure::driver_process;

fn main() -> ExitCode {
    driver_process::main(start, measure)
}

/// Runs this program for each driver and setup. The loader finds the layer; only the setup activates it.
fn start() -> Result<()> {
    let layer = vkabort_test_kit::cargo::build_layer()?;
    let mut drivers = vec![vkabort_test_kit::cargo::build_test_driver()?];
    drivers.extend(
        TestDriver::Lavapipe
            .find()
            .inspect_err(|reason| eprintln!("skipped: {reason}"))
            .ok(),
    );
    // One process each: lavapipe is several times slower on each device after a process's first.
    for driver in &drivers {
        for setup in 0..SETUPS.len() {
            driver_process::run(driver, &layer, Placement::WithoutLayer, &[(SETUP, setup.to_string())])?;
        }
    }
    Ok(())
}

/// Environment variable with the index of a process's setup in [`SETUPS`].
const SETUP: &str = "BENCH_SETUP";

fn measure(driver: &str) -> Result<()> {
    let mut criterion = Criterion::default()
        .output_directory(&vkabort_test_kit::target().join("criterion"))
        .configure_from_args();
    let setup = std::env::var(SETUP).ok().and_then(|setup| setup.parse().ok());
    let setup = setup.and_then(|setup: usize| SETUPS.get(setup).copied());
    let setup = setup.context("BENCH_SETUP is not set")?;
    let calls = Calls::new(setup).with_context(|| setup.name)?;
    let mut group = criterion.benchmark_group(format!("{driver}/vkQueueSubmit"));
    group.bench_function(BenchmarkId::from_parameter(setup.name), |b| {
        b.iter_custom(|rounds| {
            let start = std::time::Instant::now();
            calls.submit(rounds).unwrap();
            start.elapsed()
        });
    });
    group.finish();
    let mut group = criterion.benchmark_group(format!("{driver}/record and reset commands"));
    group.bench_function(BenchmarkId::from_parameter(setup.name), |b| {
        b.iter(|| calls.record().unwrap())
    });
    group.finish();
    let mut group = criterion.benchmark_group(format!("{driver}/vkCreateShaderModule"));
    for (shader, spirv) in &shaders(setup)? {
        group.bench_function(BenchmarkId::new(setup.name, shader), |b| {
            b.iter(|| calls.make_module(spirv).unwrap());
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group(format!("{driver}/vkCreateComputePipelines"));
    for (shader, spirv) in &shaders(setup)? {
        let module = calls.module(spirv)?;
        group.bench_function(BenchmarkId::new(setup.name, shader), |b| {
            b.iter(|| calls.make_pipeline(module).unwrap());
        });
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}
