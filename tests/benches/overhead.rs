//! What the layer costs calls that have nothing to do with an abort: submissions, shader modules and pipelines, with and
//! without it in one run, on the tests' own driver (where next to nothing else is measured) and on lavapipe.
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
use vkabort_tests::measure::calls::{Calls, WAYS, shaders};
use vkabort_tests::measure::driver_process;

fn main() -> ExitCode {
    driver_process::main(start, measure)
}

/// Runs this program again for each driver, with the layer where the loader finds it and nothing activates it.
fn start() -> Result<()> {
    let layer = vkabort_test_kit::cargo::build_layer()?;
    let mut drivers = vec![vkabort_test_kit::cargo::build_test_driver()?];
    drivers.extend(
        TestDriver::Lavapipe
            .find()
            .inspect_err(|reason| eprintln!("skipped: {reason}"))
            .ok(),
    );
    // A process each: lavapipe is several times slower for every device but the first that a process makes.
    for driver in &drivers {
        for way in 0..WAYS.len() {
            driver_process::run(driver, &layer, Placement::WithoutLayer, &[(WAY, way.to_string())])?;
        }
    }
    Ok(())
}

/// Which of [`WAYS`] a process measures.
const WAY: &str = "BENCH_WAY";

fn measure(driver: &str) -> Result<()> {
    let mut criterion = Criterion::default()
        .output_directory(&vkabort_test_kit::target().join("criterion"))
        .configure_from_args();
    let way = std::env::var(WAY).ok().and_then(|way| way.parse().ok());
    let way = way.and_then(|way: usize| WAYS.get(way).copied());
    let way = way.context("BENCH_WAY is not set")?;
    let calls = Calls::new(way).with_context(|| way.name)?;
    let mut group = criterion.benchmark_group(format!("{driver}/vkQueueSubmit"));
    group.bench_function(BenchmarkId::from_parameter(way.name), |b| {
        b.iter_custom(|rounds| {
            let start = std::time::Instant::now();
            calls.submit(rounds).unwrap();
            start.elapsed()
        });
    });
    group.finish();
    let mut group = criterion.benchmark_group(format!("{driver}/vkCreateShaderModule"));
    for (shader, spirv) in &shaders(way)? {
        group.bench_function(BenchmarkId::new(way.name, shader), |b| {
            b.iter(|| calls.make_module(spirv).unwrap());
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group(format!("{driver}/vkCreateComputePipelines"));
    for (shader, spirv) in &shaders(way)? {
        let module = calls.module(spirv)?;
        group.bench_function(BenchmarkId::new(way.name, shader), |b| {
            b.iter(|| calls.make_pipeline(module).unwrap());
        });
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}
