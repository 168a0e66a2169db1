//! Every case on every driver, each in a process of its own.
#![allow(clippy::print_stderr, reason = "a test harness says why it cannot run")]

use libtest_mimic::Arguments;
use std::path::Path;
use std::process::ExitCode;
use vkabort_tests::{cases, harness};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let built =
        vkabort_test_kit::layer::build().and_then(|layer| Ok((layer, vkabort_test_kit::layer::build_driver()?)));
    let (layer, own) = match built {
        Ok(built) => built,
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    let trials = harness::trials(
        &cases::all(),
        &layer,
        &own,
        Path::new(env!("CARGO_BIN_EXE_vkabort-e2e")),
    );
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        harness::print_skipped();
    }
    conclusion.exit_code()
}
