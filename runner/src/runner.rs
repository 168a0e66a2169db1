//! Runs cases in child processes.

use crate::judge::judge;
use crate::supervise::{self, End, Finished};
use crate::workers::WorkerPool;
use crate::{Case, CaseResult, Launch, Outcome, Verdict, in_process, scratch};
use anyhow::Result;
use std::fs;
use std::process::ExitStatus;
use std::time::Instant;

/// Runs cases, and keeps the processes that cases share.
#[derive(Default)]
pub struct Runner {
    workers: WorkerPool,
}

impl Runner {
    /// A runner without processes.
    pub const fn new() -> Self {
        Self {
            workers: WorkerPool::new(),
        }
    }

    /// Runs a case in a child process, in an idle one of its driver, layers and settings if both allow it. Two processes run a case that
    /// compares them.
    ///
    /// # Errors
    ///
    /// A process cannot be started or waited for.
    pub fn run(&self, case: &Case, launch: &dyn Launch) -> Result<CaseResult> {
        let started = Instant::now();
        let mut result = match launch.key() {
            Some(key) if case.can_share_process() => {
                let key = format!("{key}, {:?}", case.settings);
                self.workers.run(&key, case, launch)?
            }
            _ => alone(case, launch)?,
        };
        if case.twice && result.verdict.outcome == Outcome::Pass {
            let first = std::mem::replace(&mut result, alone(case, launch)?).verdict;
            if result.verdict.outcome == Outcome::Pass && result.verdict != first {
                let detail = format!("one run gave {}, another {}", first.detail, result.verdict.detail);
                result.verdict = Verdict::new(Outcome::Warn, detail);
            }
        }
        if case.outside_valid_usage && result.verdict.outcome.is_failure() {
            let detail = format!("{}: {}", result.verdict.outcome.name(), result.verdict.detail);
            result.verdict = Verdict::new(Outcome::Warn, detail);
        }
        result.time = started.elapsed();
        Ok(result)
    }

    /// Ends the processes that cases shared.
    ///
    /// # Errors
    ///
    /// One did not exit with success after its last case.
    pub fn finish(&self) -> Result<()> {
        self.workers.finish()
    }
}

/// Runs a case in a process of its own.
fn alone(case: &Case, launch: &dyn Launch) -> Result<CaseResult> {
    let scratch = scratch::folder_in(&launch.folder())?;
    let mut command = launch.command(case, scratch.path())?;
    command.args([in_process::RUN, case.name]);
    let mut child = supervise::start(&mut command, scratch.path())?;
    let end = supervise::wait(&mut child, case.limit, || false)?;
    let End::Exited(status) = end else {
        let finished = Finished::read(ExitStatus::default(), scratch.path())?;
        return Ok(CaseResult::hung(case, end, &finished));
    };
    let finished = Finished::read(status, scratch.path())?;
    let log = match launch.log_file(case, scratch.path()) {
        Some(file) => fs::read_to_string(file).unwrap_or_default(),
        None => finished.stderr.clone(),
    };
    let verdict = judge(case, launch, Verdict::last_of(&finished.stdout), &finished, &log);
    Ok(CaseResult::new(case, verdict, &finished))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    /// Runs a script in place of the cases, and says whether it must exit with success.
    struct Script(String, bool);

    impl Launch for Script {
        fn command(&self, _: &Case, _: &Path) -> Result<Command> {
            let mut command = Command::new("sh");
            command.args(["-c", &self.0]);
            Ok(command)
        }

        fn must_exit(&self) -> bool {
            self.1
        }

        fn lost_exit_code(&self) -> fn(ExitStatus) -> bool {
            |status| std::os::unix::process::ExitStatusExt::signal(&status) == Some(libc::SIGKILL)
        }
    }

    fn run(script: impl Into<String>, limit: Duration) -> Verdict {
        run_script(Script(script.into(), false), limit)
    }

    fn run_script(script: Script, limit: Duration) -> Verdict {
        let case = Case {
            limit,
            ..Case::new("a case", |_| Ok(().into()))
        };
        let result = Runner::new().run(&case, &script);
        result.map_or_else(
            |error| Verdict::new(Outcome::Crash, error.to_string()),
            |result| result.verdict,
        )
    }

    const SECONDS: Duration = Duration::from_secs(20);

    #[test]
    fn a_child_without_a_verdict_has_crashed() {
        let verdict = run("echo some reason >&2; kill -SEGV $$", SECONDS);
        assert_eq!(verdict.outcome, Outcome::Crash);
        assert_eq!(verdict.detail, "the process crashed (SIGSEGV): some reason");
        assert_eq!(run("exit 3", SECONDS).detail, "the process ended with code 3");
    }

    #[test]
    fn a_child_that_does_not_end_hangs() {
        let started = Instant::now();
        let verdict = run("exec sleep 60", Duration::from_millis(100));
        assert_eq!(verdict.outcome, Outcome::Hang);
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_verdict_counts_however_the_child_ends() {
        let said = Verdict::new(Outcome::Pass, "observed");
        let verdict = run(format!("echo noise; echo '{}'; kill -SEGV $$", said.line()), SECONDS);
        assert_eq!(verdict, said);
    }

    #[test]
    fn a_crash_after_a_verdict_counts_where_the_process_must_exit() {
        for outcome in [Outcome::Pass, Outcome::Skip] {
            let line = Verdict::new(outcome, "").line();
            let script = format!("echo '{line}'; kill -SEGV $$");
            let verdict = run_script(Script(script, true), SECONDS);
            assert_eq!(verdict.outcome, Outcome::Crash, "{verdict:?}");
        }
    }

    #[test]
    fn a_process_whose_exit_code_is_lost_has_crashed_if_it_has_no_verdict() {
        let line = Verdict::new(Outcome::Pass, "").line();
        for (said, outcome) in [(line.as_str(), Outcome::Pass), ("", Outcome::Crash)] {
            let verdict = run_script(Script(format!("echo '{said}'; kill -KILL $$"), true), SECONDS);
            assert_eq!(verdict.outcome, outcome, "{verdict:?}");
        }
    }

    #[test]
    fn two_runs_must_find_the_same() -> Result<()> {
        let case = Case::new("a case", |_| Ok(().into())).twice();
        let line = Verdict::new(Outcome::Pass, "PID").line();
        let equal = Runner::new().run(&case, &Script(format!("echo '{line}'"), true))?;
        assert_eq!(equal.verdict.outcome, Outcome::Pass);
        let different = Runner::new().run(&case, &Script(format!("echo '{line}' | sed s/PID/$$/"), true))?;
        assert_eq!(different.verdict.outcome, Outcome::Warn);
        assert!(
            different.verdict.detail.starts_with("one run gave "),
            "{:?}",
            different.verdict
        );
        Ok(())
    }
}
