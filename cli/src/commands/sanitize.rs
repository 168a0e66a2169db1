//! `vkabort sanitize`: plants checks into a module.

use crate::failure::{Failure, Result, is_standard};
use crate::module::Module;
use crate::{io, settings};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use vkabort_instrument::SanitizeFilter;
use vkabort_instrument::{
    Checks, DEFAULT_LOOP_BUDGET, Hooks, Instrumented, LoweredFeatures, Options, Outcome, Sanitize, Unplanted,
    instrument_with,
};

/// Arguments of `vkabort sanitize`.
#[derive(Args)]
#[command(after_help = "\
The checks are ordinary aborts (OpAbortKHR): the module runs under the layer, or on a driver that supports
VK_KHR_shader_abort. `vkabort run --sanitize` plants into every module of a program.

Examples:
  vkabort sanitize cull.spv -o cull.checked.spv --sites cull.json
  vkabort sanitize cull.spv -o - --checks loops --loop-budget 100000 | spirv-dis")]
pub struct SanitizeArgs {
    /// SPIR-V module, little- or big-endian
    #[arg(value_name = "IN.spv")]
    input: PathBuf,
    /// File for the module with checks, in the byte order of the input
    #[arg(short, long, value_name = "OUT.spv")]
    output: PathBuf,
    #[command(flatten)]
    checks: CheckArgs,
    /// Write the table of abort sites, for `vkabort decode --sites`
    #[arg(long, value_name = "SITES.json")]
    sites: Option<PathBuf>,
}

/// The checks and their options.
#[derive(Args)]
pub struct CheckArgs {
    /// Checks to plant, separated by commas
    #[arg(long, value_name = "CHECKS", default_value = "default", value_parser = settings::CheckList)]
    checks: Checks,
    #[arg(long, help = settings::help("loop_budget"), value_name = "N", default_value_t = DEFAULT_LOOP_BUDGET,
        value_parser = clap::value_parser!(u32).range(1..))]
    loop_budget: u32,
    /// Where to plant, as the setting sanitize_filter: `report entry=cull; ignore function=*`
    #[arg(long, value_name = "RULES", default_value = "", hide_default_value = true)]
    sanitize_filter: SanitizeFilter,
}

/// Plants checks into a module.
///
/// # Errors
///
/// An option or the module is not valid, a check cannot be planted, or a file cannot be read or written.
pub fn run(args: &SanitizeArgs) -> Result<ExitCode> {
    if is_standard(&args.output) && args.sites.as_deref().is_some_and(is_standard) {
        return Err(Failure::input(
            "only one of the module and the sites can go to standard output",
        ));
    }
    let module = Module::read(&args.input)?;
    let options = Options {
        lowers: LoweredFeatures::default(),
        // The limit of the device that runs the module counts.
        max_message_bytes: u32::MAX,
        sanitize: Sanitize {
            checks: args.checks.checks,
            loop_budget: args.checks.loop_budget,
            filter: args.checks.sanitize_filter.clone(),
            numbers_faults: false,
            ..Sanitize::default()
        },
        ..Options::default()
    };
    let (mut refused, mut left_out) = (None, None);
    let mut keep_reason = |reason: Unplanted<'_>| match reason {
        Unplanted::Refused(reason) => refused = Some(reason.to_owned()),
        Unplanted::LeftOut(reason) => left_out = Some(reason.to_owned()),
    };
    let hooks = Hooks {
        not_sanitized: Some(&mut keep_reason),
        ..Hooks::default()
    };
    let outcome = instrument_with(&module.words, &options, hooks);
    let name = &module.name;
    let outcome = outcome.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    if let Some(reason) = refused {
        return Err(Failure::input(format!("{name}: checks cannot be planted: {reason}")));
    }
    if let Some(reason) = left_out {
        io::note(&format!("{name}: warning: {reason}"));
    }
    match &outcome {
        Outcome::Unchanged if args.sites.is_some() => {
            return Err(Failure::input(format!(
                "{name}: no place for these checks: there are no sites to write"
            )));
        }
        Outcome::Unchanged => {
            io::write(&args.output, &module.bytes_of(&module.words))?;
            io::note(&format!("{name}: no place for these checks, copied unchanged"));
        }
        Outcome::Instrumented(new) => write(args, &module, new)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(args: &SanitizeArgs, module: &Module, new: &Instrumented) -> Result<()> {
    for warning in &new.sites.warnings {
        io::note(&format!("{}: warning: {}", module.name, warning));
    }
    io::write(&args.output, &module.bytes_of(&new.words))?;
    if let Some(path) = &args.sites {
        io::write_sites(path, &new.sites)?;
    }
    let planted = new.sites.sites.iter().filter(|site| site.check.is_some()).count();
    io::note(&format!(
        "{}: {} planted, {} words rewritten to {}",
        module.name,
        io::count(planted as u64, "check"),
        module.words.len(),
        new.words.len()
    ));
    Ok(())
}
