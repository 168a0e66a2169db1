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
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;
use vkabort_record::escape::{escape_bytes, one_line};
use vkabort_report::Styled;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return refuse(&error),
    };
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
        Command::Schema => io::print(vkabort_report::json::SCHEMA).map(|()| ExitCode::SUCCESS),
        Command::Completions(args) => commands::completions::run(&args, &mut Args::command()),
        Command::Man(args) => commands::man::run(&args, Args::command()),
    };
    result.unwrap_or_else(|failure| {
        io::note(&format!("error: {failure}"));
        failure.exit_code()
    })
}

/// Prints help, the version, or an error in the arguments, which are not trusted: an error without colours if it quotes control
/// characters.
fn refuse(error: &clap::Error) -> ExitCode {
    let is_safe = |word: &OsString| word.to_str().is_some_and(|word| one_line(word) == word);
    if error.kind() == ErrorKind::InvalidUtf8 {
        // clap does not say which.
        for word in std::env::args_os().skip(1).filter(|word| word.to_str().is_none()) {
            let word = escape_bytes(word.as_encoded_bytes());
            io::note(&format!("error: the argument `{word}` is not UTF-8"));
        }
    } else if std::env::args_os().all(|word| is_safe(&word)) || !error.use_stderr() {
        error.exit();
    } else {
        io::print_error(&Styled::plain(&error.render().to_string()));
    }
    ExitCode::from(failure::code::USAGE)
}
