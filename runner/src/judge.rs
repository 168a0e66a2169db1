//! Judges a case by its process's verdict, end, output and log.

use crate::supervise::{Finished, describe};
use crate::{Case, Ends, Launch, Log, Outcome, Verdict};
use anyhow::{Result, bail};
use vkabort_record::escape::one_line;

/// The verdict on a case. `said`: the verdict that its process wrote before it ended.
pub(crate) fn judge(
    case: &Case,
    launch: &dyn Launch,
    said: Option<Verdict>,
    finished: &Finished,
    log: &str,
) -> Verdict {
    let has_aborted = launch.has_aborted(finished.status);
    let mut verdict = match (said, case.ends) {
        (Some(said), Ends::Exits) => said,
        (None, Ends::KillsItself) if has_aborted => Verdict::new(Outcome::Pass, ""),
        (said, _) => said
            .filter(|said| said.outcome != Outcome::Pass)
            .unwrap_or_else(|| crash(finished)),
    };
    if verdict.outcome.is_failure() {
        return verdict;
    }
    let has_failed = !finished.status.success() && !launch.lost_exit_code()(finished.status);
    if case.ends == Ends::Exits && launch.must_exit() && has_failed {
        let end = describe(finished.status);
        return Verdict::new(Outcome::Crash, format!("after the verdict {}, {end}", verdict.line()));
    }
    if verdict.outcome != Outcome::Skip
        && let Err(error) = check_log(case, launch, finished, log)
    {
        verdict = Verdict::new(Outcome::Fail, format!("{error:#}"));
    }
    verdict
}

fn crash(finished: &Finished) -> Verdict {
    let mut lines = finished.stderr.lines().rev();
    let last = lines.find(|line| !line.trim().is_empty()).map(one_line);
    let last = last.map_or_else(String::new, |last| format!(": {last}"));
    Verdict::new(Outcome::Crash, describe(finished.status) + &last)
}

fn check_log(case: &Case, launch: &dyn Launch, finished: &Finished, log: &str) -> Result<()> {
    for stream in [&finished.stdout, &finished.stderr] {
        // A shader of rust-gpu may panic, too; its message is expected.
        let panics = stream.matches("panicked at").count() - stream.matches("Rust panicked at").count();
        if stream.contains("Validation Error") || panics > 0 {
            bail!("the output reports an error");
        }
    }
    match case.log {
        Log::Any => Ok(()),
        Log::Silent if log.trim().is_empty() => Ok(()),
        Log::Report(name) => launch.check_report(name, log),
        Log::Silent => bail!("the log must be empty, but is\n{log}"),
        // Windows separates the names of a path by backslashes.
        Log::Contains(texts) => match texts.iter().find(|text| !log.replace('\\', "/").contains(*text)) {
            Some(text) => bail!("the log does not contain {text:?}:\n{log}"),
            None => Ok(()),
        },
    }
}
