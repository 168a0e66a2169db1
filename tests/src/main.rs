//! `vkabort-e2e CASE` runs one case in this process and environment. `vkabort-e2e --serve` runs the cases that standard
//! input names, `vkabort-e2e --compile [PREFIX]` every case, or those that begin with the prefix, up to its first submission. Without arguments it lists all cases.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test programs print their results"
)]

#[cfg(sanitized)]
mod sanitized;

use anyhow::{Context as _, Result};
use std::process::ExitCode;
use vkabort_tests::compile::{COMPILE, HIT, MISS, PIPELINE_CACHE, compile, pipeline_cache};
#[cfg(unix)]
use vkabort_tests::golden_pipelines::{GOLDENS, create};
use vkabort_tests::harness::{SERVE, serve};
use vkabort_tests::{cases, in_process};

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    let all = cases::all();
    let mut arguments = std::env::args_os().skip(1);
    let (name, argument) = (arguments.next(), arguments.next().unwrap_or_default());
    match name.as_ref().and_then(|name| name.to_str()) {
        None => all.iter().for_each(|case| println!("{}", case.name)),
        Some(SERVE) => serve(&all)?,
        Some(PIPELINE_CACHE) => println!("{}", if pipeline_cache(argument.as_ref())? { HIT } else { MISS }),
        Some(COMPILE) => {
            let prefix = argument.to_string_lossy();
            let selected: Vec<_> = all.into_iter().filter(|case| case.name.starts_with(&*prefix)).collect();
            compile(&selected, |case, progress| println!("{}\t{progress}", case.name));
        }
        #[cfg(unix)]
        Some(GOLDENS) => create(argument.as_ref(), |name, progress| println!("{name}\t{progress}"))?,
        Some(name) => {
            let case = all.iter().find(|case| case.name == name);
            let case = case.with_context(|| format!("unknown case {name}"))?;
            return Ok(ExitCode::from(in_process::run(case)));
        }
    }
    Ok(ExitCode::SUCCESS)
}
