//! `vkabort-bundle`: the end-to-end tests and the benchmarks, unpacked to a machine without toolchain, network or
//! repository. It prints a table.
//!
//! The program carries the layer, the command `vkabort`, the tests' own driver and the shaders behind its own bytes and
//! unpacks them into a private folder (`private`, `unpacked`). This process never touches Vulkan: each part (`parts`) is a
//! child of it (`child`) with a time limit (`supervise`), in which each case is a child again, so that a driver that
//! hangs or crashes costs a row of the table (`table`) and not the others.
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

/// Nothing could be run.
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
