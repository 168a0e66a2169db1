//! Time that lavapipe takes to create the pipeline of a shader that aborts with a large array in a uniform buffer, which
//! the rewritten shader reads in place or loads by value.
//!
//!     cargo bench --workspace --bench large_message
//!
//! Measures loads by value up to 8 KiB: their time grows faster than the message (`BENCH_KIB=64` takes minutes).
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark prints its table"
)]

use anyhow::{Context as _, Result};
use std::process::ExitCode;
use vkabort_test_kit::drivers::TestDriver;
use vkabort_tests::harness::Placement;
use vkabort_tests::measure::driver_process;
use vkabort_tests::measure::large_message::{by_value, create, shader};

fn main() -> ExitCode {
    driver_process::main(start, measure)
}

fn start() -> Result<()> {
    let layer = vkabort_test_kit::cargo::build_layer()?;
    for driver in [TestDriver::Lavapipe, TestDriver::LavapipeBackports] {
        match driver.find() {
            Ok(driver) => driver_process::run(&driver, &layer, Placement::Alone, &[])?,
            Err(reason) => eprintln!("skipped: {reason}"),
        }
    }
    Ok(())
}

fn measure(driver: &str) -> Result<()> {
    let most = std::env::var("BENCH_KIB").ok().and_then(|kib| kib.parse().ok());
    let most: u32 = most.unwrap_or(8);
    println!("{driver}: creation of module and pipeline, shader that aborts with an array");
    println!("{:>8} {:>16} {:>16} {:>8}", "KiB", "by reference", "by value", "ratio");
    for kib in [1, 2, 4, 8, 16, 32, 64] {
        let words = shader(kib)?;
        let reference = create(&words)?;
        let reference_text = format!("{:.1} ms", reference.as_secs_f64() * 1e3);
        if kib > most {
            println!("{kib:>8} {reference_text:>16} {:>16} {:>8}", "not measured", "");
            continue;
        }
        let value = create(&by_value(&words).context("the module has no load of the array")?)?;
        let value_text = format!("{:.1} ms", value.as_secs_f64() * 1e3);
        let ratio = value.as_secs_f64() / reference.as_secs_f64();
        println!("{kib:>8} {reference_text:>16} {value_text:>16} {ratio:>8.1}");
    }
    Ok(())
}
