//! `vkabort completions`

use crate::args::{Args, CompletionsArgs};
use crate::failure::Result;
use crate::io;
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints the completion script.
pub fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "vkabort", &mut script);
    io::write("-", &script)?;
    Ok(ExitCode::SUCCESS)
}
