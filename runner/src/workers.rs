//! Processes that run several cases in sequence: starting a driver, the validation layer and glslang takes several times
//! as long as most cases.
//!
//! A worker runs cases of one driver, placement and list of settings that need no other special environment. Each case has its own time
//! limit, instance, device and output files. If a case fails, crashes or exceeds its limit, its worker ends, and the next
//! case gets a fresh one.

use crate::judge::judge;
use crate::scratch::{self, TempDir};
use crate::supervise::{self, End, Finished};
use crate::{Case, CaseResult, Launch, SERVE, Verdict};
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time that a worker may take to exit after its last case.
const EXIT_LIMIT: Duration = Duration::from_secs(20);

/// Workers that wait for their next case.
#[derive(Default)]
pub(crate) struct WorkerPool {
    idle: Mutex<Vec<Worker>>,
    errors: Mutex<Vec<String>>,
}

impl WorkerPool {
    /// An empty pool.
    pub(crate) const fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
            errors: Mutex::new(Vec::new()),
        }
    }

    /// Runs a case in an idle worker of this key, or in a new one. A worker whose case did not pass ends.
    ///
    /// # Errors
    ///
    /// No worker can be started or waited for.
    pub(crate) fn run(&self, key: &str, case: &Case, launch: &dyn Launch) -> Result<CaseResult> {
        let mut worker = {
            let mut idle = lock(&self.idle);
            // Cases are sorted by key, so the oldest worker of another key has most likely run its last case.
            match idle.iter().position(|worker| worker.key == key) {
                Some(index) => idle.swap_remove(index),
                None => {
                    let oldest = (idle.len() >= idle_limit()).then(|| idle.remove(0));
                    drop(idle);
                    if let Some(worker) = oldest {
                        self.retire(worker);
                    }
                    Worker::start(key, case, launch)?
                }
            }
        };
        let result = worker.run(case, launch)?;
        if !result.verdict.outcome.is_failure() {
            lock(&self.idle).push(worker);
        }
        Ok(result)
    }

    /// Ends all idle workers.
    ///
    /// # Errors
    ///
    /// A worker that passed all of its cases did not exit with success.
    pub(crate) fn finish(&self) -> Result<()> {
        let idle = std::mem::take(&mut *lock(&self.idle));
        idle.into_iter().for_each(|worker| self.retire(worker));
        let errors = lock(&self.errors);
        if !errors.is_empty() {
            bail!("{}", errors.join("\n"));
        }
        Ok(())
    }

    fn retire(&self, worker: Worker) {
        if let Err(error) = worker.finish() {
            lock(&self.errors).push(format!("{error:#}"));
        }
    }
}

/// Maximum number of idle workers: one per test thread.
fn idle_limit() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that runs cases.
struct Worker {
    key: String,
    child: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<Verdict>,
    scratch: TempDir,
    /// Names of the cases that it has run.
    cases: Vec<&'static str>,
    /// See [`Launch::lost_exit_code`].
    lost_exit_code: fn(ExitStatus) -> bool,
}

impl Worker {
    fn start(key: &str, case: &Case, launch: &dyn Launch) -> Result<Self> {
        let scratch = scratch::folder_in(&launch.folder())?;
        let mut command = launch.command(case, scratch.path())?;
        command
            .arg(SERVE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(scratch.path().join("stderr"))?);
        // Leads a process group. It may outlive the thread that starts it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().context("cannot start a worker")?;
        let requests = child.stdin.take();
        let stdout = child.stdout.take().context("the worker has no stdout")?;
        let (send, replies) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines
                .filter_map(|line| Verdict::last_of(&line))
                .try_for_each(|verdict| send.send(verdict))
        });
        Ok(Self {
            key: key.to_owned(),
            child,
            requests,
            replies,
            scratch,
            cases: Vec::new(),
            lost_exit_code: launch.lost_exit_code(),
        })
    }

    fn run(&mut self, case: &Case, launch: &dyn Launch) -> Result<CaseResult> {
        let output = scratch::folder_in(self.scratch.path())?;
        for name in ["stdout", "stderr"] {
            fs::write(output.path().join(name), "")?;
        }
        let request = format!("{}\t{}\n", case.name, output.path().display());
        let requests = self.requests.as_mut().context("the worker has finished")?;
        // Ignores a broken pipe: if the worker died, its exit status tells why.
        let _ = requests.write_all(request.as_bytes());
        let (said, end) = match self.replies.recv_timeout(case.limit) {
            Ok(verdict) => (Some(verdict), End::Exited(ExitStatus::default())),
            Err(RecvTimeoutError::Disconnected) => (None, supervise::wait(&mut self.child, EXIT_LIMIT, || false)?),
            Err(RecvTimeoutError::Timeout) => {
                let is_dead = supervise::kill(&mut self.child)?;
                (None, End::TimedOut { is_dead })
            }
        };
        let mut result = match end {
            End::Exited(status) => {
                let finished = Finished::read(status, output.path())?;
                let verdict = judge(case, launch, said, &finished, &finished.stderr);
                CaseResult::new(case, verdict, &finished)
            }
            end => CaseResult::hung(case, end, &Finished::read(ExitStatus::default(), output.path())?),
        };
        if result.verdict.outcome.is_failure() && !self.cases.is_empty() {
            result.output += &format!("\nIts process ran {:?} before.", self.cases);
        }
        self.cases.push(case.name);
        Ok(result)
    }

    fn finish(mut self) -> Result<()> {
        self.requests = None;
        let end = supervise::wait(&mut self.child, EXIT_LIMIT, || false)?;
        match end {
            End::Exited(status) if status.success() || (self.lost_exit_code)(status) => Ok(()),
            end => bail!("the worker of [{}] ended with {end:?} after {:?}", self.key, self.cases),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = supervise::kill(&mut self.child);
        }
    }
}
