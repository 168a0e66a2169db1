//! Does checks in child processes, each with a time limit: a check may lose the device, hang, or take its process along.

use super::checks::Check;
use super::verdict::{Outcome, Verdict};
use serde_json::Value as Json;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a child is looked at.
const POLL: Duration = Duration::from_millis(5);
/// How long a killed child may take to die. One that waits in a driver of the kernel may never.
const GRACE: Duration = Duration::from_secs(2);
/// What is kept of a child's output, which may be endless.
const KEPT: usize = 1 << 16;

/// A check that was done.
pub struct Done {
    /// The check.
    pub check: &'static Check,
    /// How it went.
    pub verdict: Verdict,
    /// How long it took, with the start of its process.
    pub time: Duration,
    /// The device that was used.
    pub device: Option<Json>,
}

/// A check that is not done.
pub fn skipped(check: &'static Check, reason: &str) -> Done {
    Done {
        check,
        verdict: Verdict {
            outcome: Outcome::Skip,
            detail: reason.to_owned(),
        },
        time: Duration::ZERO,
        device: None,
    }
}

/// Does a check in a child that `command` makes, twice if the check is about two runs.
pub fn run(
    check: &'static Check,
    limit: Duration,
    command: &dyn Fn(&Check) -> Command,
) -> Result<Done, std::io::Error> {
    let started = Instant::now();
    let (mut verdict, device) = child(&mut command(check), limit)?;
    if check.twice && verdict.outcome == Outcome::Pass {
        let (second, _) = child(&mut command(check), limit)?;
        verdict = compare(verdict, second);
    }
    if check.beyond_valid_usage && verdict.outcome.is_failure() {
        verdict.detail = format!("{}: {}", verdict.outcome.name(), verdict.detail);
        verdict.outcome = Outcome::Warn;
    }
    Ok(Done {
        check,
        verdict,
        time: started.elapsed(),
        device,
    })
}

/// Two runs of the same check: they should have said the same.
fn compare(first: Verdict, second: Verdict) -> Verdict {
    if second.outcome != Outcome::Pass || second == first {
        return second;
    }
    Verdict {
        outcome: Outcome::Warn,
        detail: format!("one run has {}, another {}", first.detail, second.detail),
    }
}

fn child(command: &mut Command, limit: Duration) -> Result<(Verdict, Option<Json>), std::io::Error> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().map(collect);
    let err = child.stderr.take().map(collect);
    let status = wait(&mut child, limit)?;
    if status.is_none() {
        let _ = child.kill();
        // The output is not waited for: something that the child started may hold it open.
        let detail = match wait(&mut child, GRACE)? {
            Some(_) => format!("it did not end within {} s", limit.as_secs()),
            None => format!(
                "it did not end within {} s, and not when it was killed",
                limit.as_secs()
            ),
        };
        let outcome = Outcome::Hang;
        return Ok((Verdict { outcome, detail }, None));
    }
    let text = |thread: Option<JoinHandle<String>>| thread.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let (out, err) = (text(out), text(err));
    // A verdict stands, however the process ends after it: nothing is destroyed before the end, and drivers differ in
    // how they take that.
    if let Some(found) = out.lines().rev().find_map(Verdict::parse) {
        return Ok(found);
    }
    let last = err
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let how = status.map(describe).unwrap_or_default();
    let detail = if last.is_empty() {
        how
    } else {
        format!("{how}: {}", vkabort_record::escape::one_line(last))
    };
    let outcome = Outcome::Crash;
    Ok((Verdict { outcome, detail }, None))
}

/// Reads a stream to its end, and keeps the end.
fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            kept.extend(piece.iter().take(count));
            if kept.len() > 2 * KEPT {
                kept.drain(..kept.len() - KEPT);
            }
        }
        String::from_utf8_lossy(&kept).into_owned()
    })
}

/// The status of a child that ends within the limit.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>, std::io::Error> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            None if start.elapsed() < limit => std::thread::sleep(POLL),
            status => return Ok(status),
        }
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("the process ended with code {code}"),
        (None, Some(6)) => "the process aborted (SIGABRT)".into(),
        (None, Some(7)) => "the process crashed (SIGBUS)".into(),
        (None, Some(11)) => "the process crashed (SIGSEGV)".into(),
        (None, Some(signal)) => format!("the process was ended by signal {signal}"),
        (None, None) => "the process ended".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Verdict {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        child(&mut command, limit).expect("sh starts").0
    }

    const SECONDS: Duration = Duration::from_secs(20);

    #[test]
    fn a_child_that_says_nothing_has_crashed() {
        let verdict = shell("echo what happened >&2; kill -SEGV $$", SECONDS);
        assert_eq!(verdict.outcome, Outcome::Crash);
        assert_eq!(verdict.detail, "the process crashed (SIGSEGV): what happened");
        assert_eq!(shell("exit 3", SECONDS).detail, "the process ended with code 3");
    }

    #[test]
    fn a_child_that_does_not_end_hangs() {
        let start = Instant::now();
        let verdict = shell("exec sleep 60", Duration::from_millis(100));
        assert_eq!(verdict.outcome, Outcome::Hang);
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_verdict_stands_however_the_child_ends() {
        let line = Verdict::of(Ok("seen".into())).line(None);
        let verdict = shell(&format!("echo noise; echo '{line}'; kill -SEGV $$"), SECONDS);
        assert_eq!(verdict, Verdict::of(Ok("seen".into())));
    }

    #[test]
    fn two_runs_should_say_the_same() {
        let said = |text: &str| Verdict::of(Ok(text.into()));
        assert_eq!(compare(said("a"), said("a")), said("a"));
        let differ = compare(said("a"), said("b"));
        assert_eq!(differ.outcome, Outcome::Warn);
        assert_eq!(differ.detail, "one run has a, another b");
    }
}
