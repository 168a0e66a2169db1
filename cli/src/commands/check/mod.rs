//! `vkabort check`: warns about faults of aborts when shaders are compiled.

mod finding;
mod github;
mod sarif;
mod source_root;
mod text;

use crate::failure::{Result, code};
use crate::inputs::for_each_module;
use crate::{io, parse, settings};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use finding::Finding;
use source_root::SourceRoot;
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;
use vkabort_instrument::{Options, Rule, check};

/// Arguments of `vkabort check`.
#[derive(Args)]
#[command(after_help = "\
Warnings:
  format      the format string has too many or too few conversions, or one for another type. A struct, an array and a
              matrix need none
  overlap     parts of a message overlap, so that values are lost (glslang before 16.6)
  debug-info  the source lines of aborts are unknown
  extension   the module does not declare SPV_KHR_abort
  data        constant data is malformed, but nothing uses it
Errors:
  size        a message is larger than the limit
  refused     the layer cannot rewrite the module

--allow and --deny take the names of warnings; --deny has precedence.
Identical findings of several variants of a shader are printed once. The exit code is 0 without errors; 3 with errors;
7 with --werror and warnings only.

Examples:
  vkabort check build/shaders
  vkabort check --werror --format github --source-root . shader.spv
  vkabort check --deny format --allow debug-info shader.spv
  vkabort check --format sarif build/shaders > aborts.sarif")]
pub struct CheckArgs {
    /// SPIR-V modules, little- or big-endian, and folders of them
    #[arg(value_name = "IN.spv|FOLDER", required = true)]
    inputs: Vec<PathBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Exit with 7 if there are warnings
    #[arg(long)]
    werror: bool,
    /// Do not report the findings of a rule; may be repeated
    #[arg(long, value_name = "RULE", value_parser = warnings())]
    allow: Vec<Rule>,
    /// Report the findings of a rule as errors; may be repeated
    #[arg(long, value_name = "RULE", value_parser = warnings())]
    deny: Vec<Rule>,
    /// The folder of the repository: name source files relative to it. A name that is not one in the working directory
    /// is searched below the folder
    #[arg(long, value_name = "FOLDER")]
    source_root: Option<PathBuf>,
    /// Maximum size of a message in bytes: maxShaderAbortMessageSize of the devices
    #[arg(long, value_name = "BYTES", default_value = settings::default("max_message_size"), value_parser = parse::bytes)]
    max_message_size: u32,
}

/// Parser of the rules whose findings are warnings.
fn warnings() -> impl TypedValueParser<Value = Rule> {
    let warnings = || Rule::ALL.into_iter().filter(|rule| !rule.is_error());
    let names = warnings().map(|rule| PossibleValue::new(rule.name()).help(rule.description()));
    PossibleValuesParser::new(names)
        .try_map(move |name| warnings().find(|rule| rule.name() == name).ok_or("not a rule"))
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
/// Standard output cannot be written, or the folder of `--source-root` does not exist.
pub fn run(args: &CheckArgs) -> Result<ExitCode> {
    let options = Options {
        max_message_bytes: args.max_message_size,
        ..Options::default()
    };
    let root = args.source_root.as_deref().map(SourceRoot::new).transpose()?;
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
    findings.retain(|finding| args.deny.contains(&finding.rule) || !args.allow.contains(&finding.rule));
    for finding in &mut findings {
        finding.is_error |= args.deny.contains(&finding.rule);
        if let Some(root) = &root {
            root.apply(finding);
        }
    }
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert(finding.clone()));
    match args.format {
        Format::Text => io::print_styled(&text::document(&findings, io::has_color(&std::io::stdout()))),
        Format::Sarif => io::print_json(&format!(
            "{:#}",
            sarif::document(&findings, root.as_ref().map(SourceRoot::folder))
        )),
        Format::Github => io::print(&github::document(&findings)),
    }?;
    let errors = findings.iter().filter(|finding| finding.is_error).count();
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
