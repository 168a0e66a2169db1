//! Runs every case on every driver.
#![allow(clippy::print_stderr, reason = "a test harness prints its errors")]

use anyhow::{Context, Result};
use libtest_mimic::Arguments;
use std::path::PathBuf;
use std::process::ExitCode;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_tests::case::{RUNNER, slowdown};
use vkabort_tests::harness::{self, Target};
use vkabort_tests::{cases, glsl};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    let arguments = Arguments::from_args();
    let mut cases = cases::all();
    let mut program = (PathBuf::from(env!("CARGO_BIN_EXE_vkabort-e2e")), Vec::new());
    if let Ok(runner) = std::env::var(RUNNER) {
        let mut words = runner.split_whitespace().map(str::to_owned);
        let own = program.0.display().to_string();
        program = (
            words.next().context("the runner is empty")?.into(),
            words.chain([own]).collect(),
        );
        cases.iter_mut().for_each(|case| case.limit *= slowdown());
    }
    let target = Target {
        driver: None,
        device: None,
        layer: cargo::build_layer(Profile::OWN)?,
        program,
        folder: None,
        shader_cache: Some(glsl::cache()?),
        settings: Vec::new(),
        share: (0, 1),
        seconds: None,
    };
    let trials = harness::trials(&cases, &cargo::build_test_driver(Profile::OWN)?, &target);
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        harness::finish()?;
    }
    Ok(conclusion.exit_code())
}
