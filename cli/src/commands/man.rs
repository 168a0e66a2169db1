//! `vkabort man`: writes the manual pages.

use crate::failure::{Failure, Result};
use clap::{Args, Command};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `vkabort man`.
#[derive(Args)]
#[command(after_help = "\
Example:
  vkabort man ~/.local/share/man/man1      writes vkabort.1, vkabort-run.1 and so on; `man vkabort-run` shows one")]
pub struct ManArgs {
    /// The folder, which is created if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Writes a page for `command` and one for each subcommand.
///
/// # Errors
///
/// The folder or a page cannot be written.
pub fn run(args: &ManArgs, command: Command) -> Result<ExitCode> {
    let failed = |error: std::io::Error| Failure::path(&args.folder, "written", &error);
    std::fs::create_dir_all(&args.folder).map_err(failed)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), &args.folder).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
