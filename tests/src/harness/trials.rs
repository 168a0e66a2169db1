//! The tests of `cargo test`: each case on every driver of this repository, in each of its placements.

use super::{Placement, Target, failures};
use crate::case::{Case, Schedule, slowdown};
use libtest_mimic::{Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use vkabort_runner::{CaseResult, Outcome, Runner};
use vkabort_test_kit::drivers::{Driver, are_required};
use vkabort_test_kit::e2e_failures;

/// Driver and reason of skipped tests, with the name of each one's case.
static SKIPPED: Mutex<BTreeMap<(String, String), Vec<&str>>> = Mutex::new(BTreeMap::new());
/// Failed tests with their errors.
static FAILED: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Runs the cases.
static RUNNER: Runner = Runner::new();

/// One test per case, driver and placement, sorted by driver, placement and settings. `target` supplies the fields that do not
/// depend on the driver.
pub fn trials(cases: &[Case], test_driver: &Driver, target: &Target) -> Vec<Trial> {
    let mut trials = Vec::new();
    let drivers = target.system.drivers();
    let required = drivers.iter().filter(|driver| driver.is_required).count();
    let mut add = |driver: &Driver, index: usize, selected: &dyn Fn(&Case) -> bool| {
        let mut jobs: Vec<_> = cases.iter().filter(|case| selected(case)).collect();
        let mut jobs: Vec<(Placement, &Case)> = jobs
            .drain(..)
            .flat_map(|case| {
                let placements = target.system.placements(case, &driver.name).into_iter();
                placements.map(move |placement| (placement, case))
            })
            .collect();
        // Neighbours share a process.
        jobs.sort_by_key(|(placement, case)| (placement.name(), case.settings));
        for (placement, case) in jobs {
            let limit = case.limit * target.system.slowdown() * slowdown();
            let limit = limit + Duration::from_secs(target.seconds.unwrap_or_default());
            let case = Case { limit, ..*case };
            let target = Target {
                driver: Some(driver.clone()),
                placement,
                share: (index % required, required),
                ..target.clone()
            };
            let name = format!("{} [{}, {}]", case.name, driver.name, placement.name());
            trials.push(Trial::test(name.clone(), move || run(&case, &target, &name)));
        }
    };
    add(test_driver, 0, &|case| case.driver.is_some());
    let mut missing = Vec::new();
    for (index, driver) in drivers.iter().enumerate() {
        match &driver.found {
            Ok(driver) => add(driver, index, &|case| {
                case.driver.is_none() && case.schedule == Schedule::Always
            }),
            Err(reason) if driver.is_required && are_required() => {
                let name = format!("driver {}", driver.name);
                let reason = reason.clone();
                missing.push(Trial::test(name, move || Err(Failed::from(reason))));
            }
            Err(reason) => eprintln!("skipped: every case on {}: {reason}", driver.name),
        }
    }
    trials.extend(missing);
    trials
}

fn run(case: &Case, target: &Target, name: &str) -> Result<(), Failed> {
    let driver = target.driver.as_ref().map_or("", |driver| &driver.name);
    let result = match target.system.exclusion(case, driver) {
        Some(reason) => Ok(CaseResult::skipped(*case, reason)),
        None => RUNNER.run(case, target),
    };
    let result = result.map_err(|error| failed(name, format!("{error:#}")))?;
    match result.verdict.outcome {
        Outcome::Pass => Ok(()),
        Outcome::Skip => {
            let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
            let reason = (driver.to_owned(), result.verdict.detail);
            skipped.entry(reason).or_default().push(case.name);
            Ok(())
        }
        // Allowed by the specification, but not of our layer.
        outcome => {
            let error = format!("{}: {}\n{}", outcome.name(), result.verdict.detail, result.output);
            Err(failed(name, error))
        }
    }
}

fn failed(name: &str, error: String) -> Failed {
    let mut failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    failures::keep(name, &error);
    failed.push(format!("{name}: {error}"));
    error.into()
}

/// Ends the processes that cases shared. Prints the skipped cases by reason, then the failed tests: last, since a CI log may be
/// cut at its beginning.
///
/// # Errors
///
/// A process did not exit with success after its last case.
pub fn finish() -> anyhow::Result<()> {
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    for ((driver, reason), cases) in skipped.iter() {
        let names: Vec<&str> = BTreeSet::from_iter(cases.iter().copied()).into_iter().collect();
        println!(
            "skipped on {driver}: {reason}: {} tests ({})",
            cases.len(),
            names.join(", ")
        );
    }
    println!("skipped tests: {}", skipped.values().map(Vec::len).sum::<usize>());
    let failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    for failure in failed.iter() {
        println!("failed: {failure}");
    }
    let finished = RUNNER.finish();
    if let Err(error) = &finished {
        failures::keep("the end of the processes that cases shared", &format!("{error:#}"));
    }
    if finished.is_err() || !failed.is_empty() {
        println!("all failures, also of earlier runs: {}", e2e_failures().display());
    }
    finished
}
