//! `vkabort-bundle`: runs the end-to-end tests and benchmarks on a machine without toolchain, network or repository and
//! prints a table.
//!
//! The layer, the command `vkabort`, the test driver and the shaders are appended to the executable, which unpacks them
//! into a private folder (`private`, `unpacked`). This process never calls Vulkan: each part (`parts`) is a child process
//! (`child`) with a time limit (`supervise`) and starts a child process per case, so that a driver that hangs or crashes
//! affects one row of the table (`table`) only.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

mod args;
mod child;
mod devices;
mod facts;
mod interrupt;
mod parts;
mod private;
mod report;
mod results;
mod run;
mod supervise;
mod table;
mod unpacked;

use args::Args;
use clap::Parser;
use std::process::ExitCode;

/// Exit code: nothing could run.
const CANNOT: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match &args.child {
        Some(child) => child::run(child, &args),
        None => run::run(&args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::from(CANNOT)
    })
}
