//! Runs checks in child processes, each with a time limit.

use crate::check::Check;
use crate::verdict::{Outcome, Verdict};
use serde_json::Value as Json;
use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vkabort_test_kit::supervise::{self, End};

/// Number of bytes kept from the end of a child's output, which may be endless.
const KEPT_BYTES: usize = 1 << 16;

/// Result of a check.
pub struct CheckResult {
    /// The check.
    pub check: &'static Check,
    /// Its verdict.
    pub verdict: Verdict,
    /// Time that it took, including the start of its process.
    pub time: Duration,
    /// Description of the device, if the process opened one.
    pub device: Option<Json>,
}

/// The result of a check that is not run.
pub fn skipped(check: &'static Check, reason: &str) -> CheckResult {
    CheckResult {
        check,
        verdict: Verdict {
            outcome: Outcome::Skip,
            detail: reason.to_owned(),
        },
        time: Duration::ZERO,
        device: None,
    }
}

/// Verdict of a child process from `command` that runs [`crate::OPEN`].
///
/// # Errors
///
/// The process cannot be started or waited for.
pub fn open(limit: Duration, mut command: Command) -> Result<Verdict, std::io::Error> {
    Ok(run_child(&mut command, limit)?.0)
}

/// Runs a check in a child process from `command`, and in a second one if the check compares two runs.
///
/// # Errors
///
/// A process cannot be started or waited for.
pub fn run(
    check: &'static Check,
    limit: Duration,
    command: &dyn Fn(&Check) -> Command,
) -> Result<CheckResult, std::io::Error> {
    let started = Instant::now();
    let (mut verdict, device) = run_child(&mut command(check), limit)?;
    if check.twice && verdict.outcome == Outcome::Pass {
        let (second, _) = run_child(&mut command(check), limit)?;
        verdict = compare(verdict, second);
    }
    if check.outside_valid_usage && verdict.outcome.is_failure() {
        verdict.detail = format!("{}: {}", verdict.outcome.name(), verdict.detail);
        verdict.outcome = Outcome::Warn;
    }
    Ok(CheckResult {
        check,
        verdict,
        time: started.elapsed(),
        device,
    })
}

/// Verdict of two runs of the same check, whose details should be equal.
fn compare(first: Verdict, second: Verdict) -> Verdict {
    if second.outcome != Outcome::Pass || second == first {
        return second;
    }
    Verdict {
        outcome: Outcome::Warn,
        detail: format!("one run gave {}, another {}", first.detail, second.detail),
    }
}

fn run_child(command: &mut Command, limit: Duration) -> Result<(Verdict, Option<Json>), std::io::Error> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    supervise::prepare(command);
    let mut child = command.spawn()?;
    let out = child.stdout.take().map(collect);
    let err = child.stderr.take().map(collect);
    let status = match supervise::wait(&mut child, limit, || false)? {
        End::Exited(status) => status,
        end => {
            // Does not wait for the output: a process that the child started may hold it open.
            let survived = match end {
                End::TimedOut { is_dead: false } => ", nor after it was killed",
                _ => "",
            };
            let detail = format!("it did not end within {} s{survived}", limit.as_secs());
            let outcome = Outcome::Hang;
            return Ok((Verdict { outcome, detail }, None));
        }
    };
    let text = |thread: Option<JoinHandle<String>>| thread.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let (out, err) = (text(out), text(err));
    // A verdict counts however the process ends afterwards: the check destroys nothing, and some drivers crash at exit.
    if let Some(verdict) = out.lines().rev().find_map(Verdict::parse) {
        return Ok(verdict);
    }
    let last = err
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let mut detail = describe(status);
    if !last.is_empty() {
        detail += &format!(": {}", vkabort_record::escape::one_line(last));
    }
    let outcome = Outcome::Crash;
    Ok((Verdict { outcome, detail }, None))
}

/// Reads a stream on a thread and returns its last bytes.
fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            kept.extend(buffer.iter().take(count));
            if kept.len() > 2 * KEPT_BYTES {
                kept.drain(..kept.len() - KEPT_BYTES);
            }
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

#[cfg(unix)]
fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal();
    let name = signal.and_then(signal_hook::low_level::signal_name);
    match (status.code(), signal, name) {
        (Some(code), ..) => format!("the process ended with code {code}"),
        (None, _, Some(name)) => format!("the process crashed ({name})"),
        (None, Some(signal), None) => format!("the process was ended by signal {signal}"),
        (None, None, None) => "the process ended".into(),
    }
}

/// The code of a crash is an `NTSTATUS` of severity error, for example 0xC0000005 for an invalid access.
#[cfg(windows)]
fn describe(status: ExitStatus) -> String {
    match status.code().unwrap_or_default() {
        code if code.cast_unsigned() >> 30 == 3 => format!("the process crashed ({code:#x})"),
        code => format!("the process ended with code {code}"),
    }
}

/// A result of every outcome.
#[cfg(test)]
pub(crate) fn one_of_each() -> Vec<CheckResult> {
    Outcome::ALL
        .into_iter()
        .zip(crate::checks::all())
        .map(|(outcome, check)| CheckResult {
            check,
            verdict: Verdict {
                outcome,
                detail: format!("a < {}", outcome.name()),
            },
            time: Duration::from_millis(1500),
            device: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn shell(script: &str, limit: Duration) -> Verdict {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run_child(&mut command, limit).expect("sh starts").0
    }

    #[cfg(unix)]
    const SECONDS: Duration = Duration::from_secs(20);

    #[cfg(unix)]
    #[test]
    fn a_child_without_a_verdict_has_crashed() {
        let verdict = shell("echo some reason >&2; kill -SEGV $$", SECONDS);
        assert_eq!(verdict.outcome, Outcome::Crash);
        assert_eq!(verdict.detail, "the process crashed (SIGSEGV): some reason");
        assert_eq!(shell("exit 3", SECONDS).detail, "the process ended with code 3");
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_does_not_end_hangs() {
        let start = Instant::now();
        let verdict = shell("exec sleep 60", Duration::from_millis(100));
        assert_eq!(verdict.outcome, Outcome::Hang);
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[cfg(unix)]
    #[test]
    fn a_verdict_counts_however_the_child_ends() {
        let line = Verdict::new(Ok("observed".into())).line(None);
        let verdict = shell(&format!("echo noise; echo '{line}'; kill -SEGV $$"), SECONDS);
        assert_eq!(verdict, Verdict::new(Ok("observed".into())));
    }

    #[test]
    fn two_runs_must_give_the_same_detail() {
        let pass = |text: &str| Verdict::new(Ok(text.into()));
        assert_eq!(compare(pass("a"), pass("a")), pass("a"));
        let differ = compare(pass("a"), pass("b"));
        assert_eq!(differ.outcome, Outcome::Warn);
        assert_eq!(differ.detail, "one run gave a, another b");
    }
}
