//! `vkabort completions`: prints a completion script.

use crate::failure::Result;
use crate::io;
use clap::{Args, Command};
use clap_complete::Shell;
use std::process::ExitCode;

/// Arguments of `vkabort completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the completion script of `command`.
///
/// # Errors
///
/// Standard output cannot be written.
pub fn run(args: &CompletionsArgs, command: &mut Command) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "vkabort", &mut script);
    io::write("-".as_ref(), &script)?;
    Ok(ExitCode::SUCCESS)
}
