//! `vkabort-e2e CASE` runs one case in this process, against whatever the environment sets up. Without a case it lists
//! them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test programs report what they found"
)]

use std::process::ExitCode;
use vkabort_tests::{case, cases};

fn main() -> ExitCode {
    let all = cases::all();
    let Some(name) = std::env::args().nth(1) else {
        all.iter().for_each(|case| println!("{}", case.name));
        return ExitCode::SUCCESS;
    };
    match all.iter().find(|case| case.name == name) {
        Some(case) => ExitCode::from(case::run_here(case)),
        None => {
            eprintln!("there is no case {name}");
            ExitCode::from(case::FAILED)
        }
    }
}
