//! `vkabort check`: warns about faults of aborts when shaders are compiled.

mod finding;
mod github;
mod sarif;
mod text;

use crate::failure::{Result, code};
use crate::inputs::for_each_module;
use crate::{io, parse};
use clap::{Args, ValueEnum};
use finding::Finding;
use std::collections::HashSet;
use std::process::ExitCode;
use vkabort_instrument::{Options, check};

/// Arguments of `vkabort check`.
#[derive(Args)]
#[command(after_help = "\
Warnings:
  format      the format string has too many or too few conversions, or one for another type
  overlap     parts of a message overlap, so that values are lost (glslang before 16.6)
  debug-info  the source lines of aborts are unknown
  extension   the module does not declare SPV_KHR_abort
  data        constant data is malformed, but nothing uses it
Errors:
  size        a message is larger than the limit
  refused     the layer cannot rewrite the module

Identical findings of several variants of a shader are printed once. The exit code is 0 without errors; 3 with errors;
7 with --werror and warnings only.

Examples:
  vkabort check build/shaders
  vkabort check --werror --format github shader.spv
  vkabort check --format sarif build/shaders > aborts.sarif")]
pub struct CheckArgs {
    /// SPIR-V modules, little- or big-endian, and folders of them
    #[arg(value_name = "IN.spv|FOLDER", required = true)]
    inputs: Vec<String>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Exit with 7 if there are warnings
    #[arg(long)]
    werror: bool,
    /// Maximum size of a message in bytes: maxShaderAbortMessageSize of the devices
    #[arg(long, value_name = "BYTES", default_value = "64K", value_parser = parse::bytes)]
    max_message_size: u32,
}

/// Value of `--format`.
#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    /// `file:line:column: warning: text [rule]`
    #[default]
    Text,
    /// SARIF 2.1.0
    Sarif,
    /// Workflow commands, which GitHub shows as annotations
    Github,
}

/// Checks the modules and prints the findings.
///
/// # Errors
///
/// Standard output cannot be written.
pub fn run(args: &CheckArgs) -> Result<ExitCode> {
    let options = Options {
        max_message_bytes: args.max_message_size,
        ..Options::default()
    };
    let mut findings = Vec::new();
    let mut modules = 0;
    let code = for_each_module(&args.inputs, |module| {
        modules += 1;
        match check(&module.words, &options) {
            Ok(Some(checked)) => findings.extend(Finding::all_of(&module.name, &checked)),
            Ok(None) => {}
            Err(error) => findings.push(Finding::refused(&module.name, &error)),
        }
        Ok(())
    });
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert(finding.clone()));
    io::print(&match args.format {
        Format::Text => text::document(&findings, io::has_color(&std::io::stdout())),
        Format::Sarif => sarif::document(&findings),
        Format::Github => github::document(&findings),
    })?;
    let errors = findings.iter().filter(|finding| finding.rule.is_error()).count();
    let warnings = findings.len() - errors;
    if !findings.is_empty() {
        io::note(&format!(
            "{}, {} in {}",
            io::count(errors as u64, "error"),
            io::count(warnings as u64, "warning"),
            io::count(modules, "module")
        ));
    }
    Ok(match code {
        ExitCode::SUCCESS if errors > 0 => ExitCode::from(code::INPUT),
        ExitCode::SUCCESS if args.werror && warnings > 0 => ExitCode::from(code::WARNED),
        code => code,
    })
}
