//! The benchmarks. Each part runs in child processes, one per driver and set of layers, and writes its results to
//! `bench/results`; then all results become `bench/RESULTS.md` and plots. `cargo xtask bench` installs the drivers and runs it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its progress and its measurements"
)]

mod job;
mod parts;
mod plot;
mod report;
mod results;
mod rewriting;
mod summary;
mod table;

use anyhow::{Result, ensure};
use clap::{Parser, ValueEnum};
use parts::Part;
use results::{Results, machine_facts};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::layer::Layer;
use vkabort_tests::measure::measurement::Measurement;
use vkabort_tests::measure::shaders::Variant;

/// The benchmarks.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Arguments {
    /// Only these parts; the results of the others stay as they are.
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// Only GPUs whose name contains one of these, for example `navi31`, `turnip` or `newest`. Prints the tables and writes no
    /// results.
    #[arg(long)]
    gpu: Vec<String>,
    /// Minutes for all parts. What does not fit is recorded as not measured.
    #[arg(long, default_value_t = 24)]
    minutes: u64,
    /// Only write `RESULTS.md` and the plots from the results that there are.
    #[arg(long)]
    report: bool,
    /// Measure in this process.
    #[arg(long, hide = true)]
    measure: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.measure {
        Some(name) => parts::measure(name),
        None if arguments.report => report::write(),
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
    let layer = cargo::build_layer(Profile::OWN)?;
    let deadline = Instant::now() + Duration::from_secs(arguments.minutes * 60);
    let selected = |part: &&Part| arguments.only.is_empty() || arguments.only.contains(part);
    for part in Part::value_variants().iter().filter(selected) {
        let start = Instant::now();
        let mut results = Results {
            facts: machine_facts(),
            measurements: Vec::new(),
        };
        for job in part.jobs(&arguments.gpu)? {
            results.measurements.extend(run_job(job, &layer, deadline));
        }
        println!("{}: {:.0} s", part.name(), start.elapsed().as_secs_f64());
        if arguments.gpu.is_empty() {
            ensure!(!results.measurements.is_empty(), "{} measured nothing", part.name());
            results.write(&part.name())?;
            report::write()?;
        } else {
            println!("{}", table::by_metric(&results.measurements));
        }
    }
    Ok(())
}

/// Runs a process until its limit or the deadline. An error becomes a measurement without a value.
fn run_job(mut job: job::Job, layer: &Layer, deadline: Instant) -> Vec<Measurement> {
    let left = deadline.saturating_duration_since(Instant::now());
    job.limit = job.limit.min(left);
    let (mut measurements, result) = if left.is_zero() {
        (Vec::new(), Err(anyhow::anyhow!("out of time")))
    } else {
        job.run(layer)
    };
    if let Err(error) = result {
        let reason = format!("{error:#}");
        eprintln!("{}, {}: {reason}", job.driver.name, job.measurement);
        let mut failed = Measurement::failed("the rest", &job.measurement, "", &reason);
        failed.driver = job.driver.name;
        measurements.push(failed);
    }
    measurements
}

/// Names of the variants in the order of tables.
fn variant_order(name: &str) -> usize {
    let all = Variant::ALL.map(Variant::name);
    all.iter().position(|other| *other == name).unwrap_or(all.len())
}
