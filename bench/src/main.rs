//! The benchmarks. Each part runs in child processes, one per driver and set of layers; both sides of a comparison are in one
//! run. Start it with `cargo xtask bench`, which installs the drivers first.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its progress and its tables"
)]

mod job;
mod parts;
mod table;

use anyhow::Result;
use clap::Parser;
use parts::Part;
use std::process::ExitCode;
use vkabort_test_kit::cargo;
use vkabort_tests::measure::shaders::Variant;

/// The benchmarks.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Arguments {
    /// Only these parts.
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// Only GPUs whose name contains one of these, for example `navi31`, `turnip` or `newest`.
    #[arg(long)]
    gpu: Vec<String>,
    /// Measure in this process.
    #[arg(long, hide = true)]
    measure: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.measure {
        Some(name) => parts::measure(name),
        None => run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let layer = cargo::build_layer()?;
    for part in <Part as clap::ValueEnum>::value_variants() {
        if !arguments.only.is_empty() && !arguments.only.contains(part) {
            continue;
        }
        let mut all = Vec::new();
        for job in part.jobs(&arguments.gpu)? {
            let (measurements, result) = job.run(&layer);
            all.extend(measurements);
            if let Err(error) = result {
                eprintln!("{}, {}: {error:#}", job.driver.name, job.measurement);
            }
        }
        println!("{}", table::by_metric(&all, &Variant::ALL.map(Variant::name)));
    }
    Ok(())
}
