//! The command `vkabort`.
//!
//! `args` lists the subcommands, `commands` has one file for each with its arguments, and the other modules are shared. Results go to standard output, everything else to standard error.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod failure;
mod inputs;
mod io;
mod junit;
mod locate;
mod log_follower;
mod module;
mod parse;
// The default of --prefix is another one on Windows.
#[cfg(all(test, unix))]
mod reference;
mod settings;
mod site_tables;
mod stage;
mod system;

use args::{Args, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    args.color.write_global();
    let result = match args.command {
        Command::Instrument(args) => commands::instrument::run(&args),
        Command::Sanitize(args) => commands::sanitize::run(&args),
        Command::Sites(args) => commands::sites::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Decode(args) => commands::decode::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Settings(args) => commands::settings::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Conform(args) => commands::conform::run(&args),
        Command::Install(args) => commands::install::install(&args),
        Command::Uninstall(args) => commands::install::uninstall(&args),
        Command::Schema => io::print(vkabort_record::report::json::SCHEMA).map(|()| ExitCode::SUCCESS),
        Command::Completions(args) => commands::completions::run(&args, &mut Args::command()),
        Command::Man(args) => commands::man::run(&args, Args::command()),
    };
    result.unwrap_or_else(|failure| {
        io::note(&format!("error: {failure}"));
        failure.exit_code()
    })
}
