//! Tasks that need their own process: a case, a measurement, device enumeration.

use super::{bench, misbehave};
use crate::args::Args;
use crate::facts;
use anyhow::{Context, Result};
use std::process::ExitCode;
use vkabort_tests::{cases, in_process};

/// Runs `child`. None if it is not one of these tasks.
///
/// # Errors
///
/// The task fails.
pub fn run(child: &str, args: &Args) -> Result<Option<ExitCode>> {
    let name = args.case.as_deref().unwrap_or_default();
    match child {
        "case" => {
            let case = cases::all().into_iter().find(|case| case.name == name);
            let case = case.with_context(|| format!("unknown case {name}"))?;
            return Ok(Some(ExitCode::from(in_process::run(&case))));
        }
        "devices" => println!("{}", serde_json::to_string(&facts::devices()?)?),
        "measure" => bench::measure(name)?,
        "sleep" => misbehave::sleep(),
        _ => return Ok(None),
    }
    Ok(Some(ExitCode::SUCCESS))
}
