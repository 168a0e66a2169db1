//! The benchmarks. Each part runs in child processes, one per driver and set of layers, and writes its results to
//! `bench/results`; then all results become `bench/RESULTS.md` and plots. `cargo xtask bench` installs the drivers and runs it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its progress and its measurements"
)]

mod comparison;
mod parts;
mod plot;
mod report;
mod results;
mod rewriting;
#[cfg(has_spirv_tools)]
mod round_trip;
mod summary;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use parts::Part;
use plot::variants;
use results::{Results, machine_facts};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use vkabort_runner::measurements::by_metric;
use vkabort_runner::{Case, CaseResult, Context as CaseContext, Measurement, Outcome, Runner, in_process};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_tests::harness::Target;

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
    /// Minutes for all parts. Measurements that do not fit are recorded as not measured.
    #[arg(long, default_value_t = 24)]
    minutes: u64,
    /// Only write `RESULTS.md` and the plots from the results that there are.
    #[arg(long)]
    report: bool,
    /// Run one measurement in this process (internal: for child processes).
    #[arg(long, hide = true)]
    run: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.run {
        Some(name) => measure(name),
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

/// Runs a measurement in this process.
fn measure(name: &str) -> Result<()> {
    let case = parts::all().find(|case| case.name == name);
    let case = case.with_context(|| format!("unknown measurement {name}"))?;
    println!("{}", in_process::run(&case, &CaseContext::default()).line());
    Ok(())
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
        for (case, target) in part.jobs(&arguments.gpu, &layer)? {
            results.measurements.extend(run_case(case, &target, deadline));
        }
        println!("{}: {:.0} s", part.name(), start.elapsed().as_secs_f64());
        if arguments.gpu.is_empty() {
            ensure!(!results.measurements.is_empty(), "{} measured nothing", part.name());
            results.write(&part.name())?;
            report::write()?;
        } else {
            println!("{}", by_metric(&results.measurements, &variants()));
        }
    }
    Ok(())
}

/// Runs a process until its limit or the deadline. An error becomes a measurement without a value.
fn run_case(case: Case, target: &Target, deadline: Instant) -> Vec<Measurement> {
    let left = deadline.saturating_duration_since(Instant::now());
    let limit = case.limit.min(left);
    let result = match left.is_zero() {
        true => Ok(CaseResult::skipped(case, "out of time")),
        false => Runner::new().run(&Case { limit, ..case }, target),
    };
    let (mut measurements, error) = match result {
        Ok(result) if result.verdict.outcome == Outcome::Pass => (result.measurements, None),
        Ok(result) => (result.measurements, Some(result.verdict.detail)),
        Err(error) => (Vec::new(), Some(format!("{error:#}"))),
    };
    let driver = target.driver.as_ref().map_or("", |driver| &driver.name);
    if let Some(reason) = error {
        eprintln!("{driver}, {}: {reason}", case.name);
        measurements.push(Measurement::failed("the rest", case.name, "", &reason));
    }
    measurements
        .iter_mut()
        .for_each(|one| driver.clone_into(&mut one.driver));
    measurements
}
