//! Runs every case on every driver.
#![allow(clippy::print_stderr, reason = "a test harness prints its errors")]

use anyhow::Result;
use libtest_mimic::Arguments;
use std::process::ExitCode;
use vkabort_test_kit::{cargo, scratch};
use vkabort_tests::cases;
use vkabort_tests::harness::{self, Target};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    let arguments = Arguments::from_args();
    let shader_cache = scratch::folder()?;
    let target = Target {
        driver: None,
        device: None,
        layer: cargo::build_layer()?,
        program: (env!("CARGO_BIN_EXE_vkabort-e2e").into(), Vec::new()),
        folder: None,
        shader_cache: Some(shader_cache.path().to_path_buf()),
        settings: Vec::new(),
        share: (0, 1),
        seconds: None,
    };
    let trials = harness::trials(&cases::all(), &cargo::build_test_driver()?, &target);
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        harness::finish()?;
    }
    Ok(conclusion.exit_code())
}
