//! The tests of `cargo test`: each case on every driver of the repository's, in every placement.

use super::{Job, Outcome, Placement, Stand};
use crate::case::{Case, Only};
use libtest_mimic::{Failed, Trial};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use vkabort_test_kit::drivers::{Driver, Known};
use vkabort_test_kit::layer::Layer;

/// Cases that did not apply, with the reason.
static SKIPPED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Whether a driver that is missing is a failure: on CI and under `cargo xtask test`.
pub fn drivers_are_required() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false");
    set("CI") || set("VKABORT_REQUIRE_DRIVERS")
}

/// One test for each case, driver and placement. `own` is the tests' own driver, `program` is `vkabort-e2e`.
pub fn trials(cases: &[Case], layer: &Layer, own: &Driver, program: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    let required = Known::ALL.into_iter().filter(|known| known.is_required()).count();
    let add = |trials: &mut Vec<Trial>, driver: &Driver, number: usize, case: Case| {
        for &placement in Placement::all_for(case.layers) {
            let job = Job {
                case,
                placement,
                stand: Stand {
                    driver: Some(driver.clone()),
                    device: None,
                    layer: layer.clone(),
                    program: (program.to_path_buf(), Vec::new()),
                    folder: None,
                    settings: Vec::new(),
                    share: (number % required, required),
                    seconds: None,
                },
            };
            let name = format!("{} [{}, {}]", case.name, driver.name, placement.name());
            trials.push(Trial::test(name.clone(), move || run(&job, &name)));
        }
    };
    for case in cases.iter().filter(|case| case.driver.is_some()) {
        add(&mut trials, own, 0, *case);
    }
    for (number, known) in (0..).zip(Known::ALL) {
        let driver = match known.find() {
            Ok(driver) => driver,
            Err(reason) if known.is_required() && drivers_are_required() => {
                trials.push(Trial::test(format!("driver {}", known.name()), move || {
                    Err(Failed::from(reason))
                }));
                continue;
            }
            Err(reason) => {
                eprintln!("skipped: every case on {}: {reason}", known.name());
                continue;
            }
        };
        let everywhere = |case: &&Case| case.driver.is_none() && case.only == Only::Always;
        for case in cases.iter().filter(everywhere) {
            add(&mut trials, &driver, number, *case);
        }
    }
    trials
}

fn run(job: &Job, name: &str) -> Result<(), Failed> {
    match job.run(job.case.limit) {
        Ok(Outcome::Passed(_)) => Ok(()),
        Ok(Outcome::Skipped(reason)) => {
            let mut list = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
            list.push(format!("{name}: skipped: {reason}"));
            Ok(())
        }
        Err(error) => Err(format!("{error:#}").into()),
    }
}

/// Prints the cases that did not apply, each with its reason, and how many there were.
pub fn print_skipped() {
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    for line in skipped.iter() {
        println!("{line}");
    }
    println!("skipped cases: {}", skipped.len());
}
