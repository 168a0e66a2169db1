//! `vkabort doctor`: shows the drivers, the extensions that each supports, and those that the layer adds.
//!
//! `findings` merges the lists of two child processes as JSON, one with the layer and one without; `display`
//! turns that into text.

mod display;
mod findings;

pub use findings::why_no_device;

use crate::commands::settings::{sources, switch_problem};
use crate::failure::{Result, code};
use crate::{io, locate, settings, system};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use vkabort_conform::probe;

/// Arguments of `vkabort doctor`.
#[derive(Args)]
pub struct DoctorArgs {
    /// The layer's library, or the folder that contains it
    #[arg(long, value_name = "PATH")]
    layer: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Print what this process sees of Vulkan, as JSON (internal: for the child processes of `doctor`)
    #[arg(long, hide = true)]
    probe: bool,
}

/// Prints the loader, the devices and the layer of this machine, and whether shader aborts work on it.
///
/// # Errors
///
/// A child process cannot be started, or standard output cannot be written.
pub fn run(args: &DoctorArgs) -> Result<ExitCode> {
    if args.probe {
        let log = std::env::var_os(settings::variable("log_file")?);
        io::print_json(&probe::machine(log.as_deref().map(AsRef::as_ref)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let library = locate::library(args.layer.as_deref());
    let without = findings::probe(None)?;
    let with = match &library {
        Ok(library) => Some(findings::probe(Some(library))?),
        Err(_) => None,
    };
    let found = findings::merge(&library, &without, with.as_ref());
    match args.json {
        true => io::print_json(&found)?,
        false => io::print(&display::text(&found))?,
    }
    if let Some(problem) = switch_problem(&sources()) {
        io::note(&problem);
    }
    if let Some(problem) = system::elevation_problem() {
        io::note(problem);
    }
    Ok(if findings::any_device_works(&found) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(code::UNSUPPORTED)
    })
}
