//! The subcommands and the exit codes of `vkabort --help`.

use crate::commands::{
    check::CheckArgs,
    completions::CompletionsArgs,
    conform::ConformArgs,
    decode::DecodeArgs,
    doctor::DoctorArgs,
    install::{InstallArgs, UninstallArgs},
    instrument::InstrumentArgs,
    man::ManArgs,
    run::RunArgs,
    sanitize::SanitizeArgs,
    settings::SettingsArgs,
    sites::SitesArgs,
};
use clap::{Parser, Subcommand};

/// Makes shader aborts (VK_KHR_shader_abort, OpAbortKHR) work and readable on every Vulkan driver.
#[derive(Parser)]
#[command(name = "vkabort", version, propagate_version = true, after_help = EXIT_CODES)]
pub struct Args {
    /// Whether output has colours.
    #[command(flatten)]
    pub color: colorchoice_clap::Color,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  2  wrong usage
  3  invalid input: a malformed module, data that is not message data, ...; check: an error was found
  4  a file cannot be read or written, or a program cannot be started
  5  doctor: no device supports shader aborts; conform: every check was skipped
  6  conform: a check failed, crashed or hung
  7  check: a warning was found, with --werror
 90  run: a shader aborted; otherwise run ends with the program's exit code

The file name `-` is standard input or output. Results go to standard output, everything else to standard error.
Colours follow --color, else NO_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM.";

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Rewrite a SPIR-V module as the layer does: aborts become records in memory
    Instrument(InstrumentArgs),
    /// Plant checks into a SPIR-V module: loops that do not end, divisions by zero, accesses out of bounds, ..
    Sanitize(SanitizeArgs),
    /// List the abort sites of SPIR-V modules, with the layout of their messages
    Sites(SitesArgs),
    /// Warn about faults of aborts: formats that do not fit their arguments, messages that are too large, ..
    Check(CheckArgs),
    /// Decode abort messages from vkGetDeviceFaultDebugInfoKHR, from a dump of the layer or from its log
    Decode(DecodeArgs),
    /// Run a program under the layer, show its aborts, and fail if there are any
    Run(RunArgs),
    /// List the layer's settings, their values, and where each value comes from
    Settings(SettingsArgs),
    /// Show the drivers, the extensions that each supports, what the layer adds, and where the layer is registered
    Doctor(DoctorArgs),
    /// Check an implementation of shader aborts, the driver's or the layer's, against the specifications
    Conform(ConformArgs),
    /// Register the layer with the Vulkan loader, for this user or with --system for all users
    Install(InstallArgs),
    /// Unregister the layer
    Uninstall(UninstallArgs),
    /// Print the JSON Schema of reports, which `--json`, `run --report` and the layer's log follow
    Schema,
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }
}
