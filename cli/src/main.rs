//! The command `vkabort`.
//!
//! `args` says what can be asked, `commands` has one file for each answer, `module`, `tables` and `io` read and write what
//! they share. Results go to standard output, everything else to standard error.
#![deny(unsafe_code)]

mod args;
mod commands;
mod failure;
mod io;
mod junit;
mod launch;
mod locate;
mod manifest;
mod module;
#[allow(unsafe_code)]
mod signals;
mod tables;
#[allow(unsafe_code)]
mod vulkan;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Instrument(args) => commands::instrument::run(&args),
        Command::Sites(args) => commands::sites::run(&args),
        Command::Decode(args) => commands::decode::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Conform(args) => commands::conform::run(&args),
        Command::Install(args) => commands::install::install(&args),
        Command::Uninstall(args) => commands::install::uninstall(&args),
        Command::Schema => io::print(vkabort_record::report::json::SCHEMA).map(|()| ExitCode::SUCCESS),
        Command::Completions(args) => commands::completions::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            io::note(&format!("error: {failure}"));
            failure.exit_code()
        }
    }
}
