//! `vkabort-e2e CASE` runs one case in this process and environment; with `--run` before the name it prints the verdict as a line
//! for the runner. `--serve` runs the cases that standard input names, `--compile [PREFIX]` every case, or those that begin with
//! the prefix, up to its first submission. In the bundle, other arguments are those of `machine`; elsewhere, none lists all cases.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test programs print their results"
)]

#[cfg(sanitized)]
mod sanitized;

use anyhow::{Context as _, Result};
use std::process::ExitCode;
use vkabort_runner::{Case, Context, Outcome, SERVE, in_process, serve};
use vkabort_tests::cases;
use vkabort_tests::compile::{COMPILE, HIT, MISS, PIPELINE_CACHE, compile, pipeline_cache};
#[cfg(unix)]
use vkabort_tests::golden_pipelines::{GOLDENS, create};
#[cfg(unix)]
use vkabort_tests::machine;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

fn run(arguments: &[&str]) -> Result<ExitCode> {
    let all = cases::all();
    match arguments {
        [in_process::RUN, name] => return run_case(name, true),
        [SERVE] => serve(&all)?,
        [COMPILE, prefix @ ..] => {
            let prefix = prefix.first().copied().unwrap_or_default();
            let selected: Vec<Case> = all.into_iter().filter(|case| case.name.starts_with(prefix)).collect();
            compile(&selected, |case, progress| println!("{}\t{progress}", case.name));
        }
        [PIPELINE_CACHE, file] => println!("{}", if pipeline_cache(file.as_ref())? { HIT } else { MISS }),
        #[cfg(unix)]
        [GOLDENS, folder] => create(folder.as_ref(), |name, progress| println!("{name}\t{progress}"))?,
        #[cfg(unix)]
        [machine::PROBE] => println!("{}", vkabort_conform::probe::machine(None)),
        #[cfg(unix)]
        _ if machine::carried_files().is_some() => {
            return Ok(machine::main(machine::carried_files().unwrap_or_default()));
        }
        [] => all.iter().for_each(|case| println!("{}", case.name)),
        [name, ..] => return run_case(name, false),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a case or measurement in this process.
fn run_case(name: &str, is_child: bool) -> Result<ExitCode> {
    let all = cases::all().into_iter();
    #[cfg(unix)]
    let all = all.chain(vkabort_tests::measure::cases::MEASUREMENTS.iter().copied());
    let case = all.into_iter().find(|case| case.name == name);
    let case = case.with_context(|| format!("unknown case {name}"))?;
    let context = Context::default();
    let verdict = in_process::run(&case, &context);
    match verdict.outcome {
        _ if is_child => println!("{}", verdict.line()),
        Outcome::Pass => print!("{}", verdict.detail),
        outcome => println!("{}: {}", outcome.name(), verdict.detail),
    }
    // SAFETY: the case has returned a verdict, which refers to no object.
    unsafe { in_process::release(&context) };
    Ok(ExitCode::from(u8::from(verdict.outcome.is_failure())))
}
