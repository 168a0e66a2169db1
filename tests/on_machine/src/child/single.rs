//! Children that do one thing in a process of its own: a case, a measurement, a look at the devices.

use super::{bench, misbehave};
use crate::args::Args;
use crate::facts;
use anyhow::{Context, Result};
use std::process::ExitCode;
use vkabort_tests::{case, cases};

/// Does it, if `child` is one of these.
///
/// # Errors
///
/// It cannot be done.
pub fn run(child: &str, args: &Args) -> Result<Option<ExitCode>> {
    let name = args.case.as_deref().unwrap_or_default();
    match child {
        "case" => {
            let case = cases::all().into_iter().find(|case| case.name == name);
            let case = case.with_context(|| format!("there is no case {name}"))?;
            return Ok(Some(ExitCode::from(case::run_here(&case))));
        }
        "devices" => println!("{}", serde_json::to_string(&facts::devices()?)?),
        "measure" => bench::measure(name)?,
        "sleep" => misbehave::sleep(),
        _ => return Ok(None),
    }
    Ok(Some(ExitCode::SUCCESS))
}
