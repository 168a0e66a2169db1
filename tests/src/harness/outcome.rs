//! Decides from a process's status, output and log whether its case passed.

use super::wine;
use crate::case::{Case, Ends, Log};
use crate::{in_process, report_files};
use anyhow::{Result, bail};
use std::os::unix::process::ExitStatusExt;
use vkabort_test_kit::supervise::Finished;

/// Result of a case that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Passed, with its standard output.
    Passed(String),
    /// Skipped, with the reason.
    Skipped(String),
}

/// Outcome of a case whose process, in Wine or not, logged `log`.
///
/// # Errors
///
/// The case failed.
pub(super) fn outcome(case: &Case, is_in_wine: bool, finished: &Finished, log: &str) -> Result<Outcome> {
    let has_killed_itself = match is_in_wine {
        true => finished.status.code() == Some(wine::ABORTED),
        false => finished.status.signal() == Some(libc::SIGABRT),
    };
    let ends = match finished.status.code() {
        Some(code) if code == i32::from(in_process::SKIPPED) => {
            let reason = finished.stdout.trim();
            return Ok(Outcome::Skipped(
                reason.strip_prefix("skipped: ").unwrap_or(reason).to_owned(),
            ));
        }
        _ if has_killed_itself => Some(Ends::KillsItself),
        code => (code == Some(i32::from(in_process::PASSED))).then_some(Ends::Exits),
    };
    if ends != Some(case.ends) {
        bail!("the process ended with {}\n{}", finished.status, finished.output_tail());
    }
    // Windows separates the names of a path by backslashes.
    let searched = match is_in_wine {
        true => &log.replace('\\', "/"),
        false => log,
    };
    if let Err(error) = check_log(case, finished, log, searched) {
        bail!("{error:#}\n{}\nlog:\n{log}", finished.output_tail());
    }
    Ok(Outcome::Passed(finished.stdout.clone()))
}

fn check_log(case: &Case, finished: &Finished, log: &str, searched: &str) -> Result<()> {
    for stream in [&finished.stdout, &finished.stderr] {
        if stream.contains("Validation Error") || stream.contains("panicked at") {
            bail!("the output reports an error");
        }
    }
    match case.log {
        Log::Any => Ok(()),
        Log::Silent if log.trim().is_empty() => Ok(()),
        Log::Report(name) => report_files::check(name, log),
        Log::Silent => bail!("the log must be empty"),
        Log::Contains(texts) => match texts.iter().find(|text| !searched.contains(*text)) {
            Some(text) => bail!("the log does not contain {text:?}"),
            None => Ok(()),
        },
    }
}
