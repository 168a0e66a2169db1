//! Processes that run several cases in sequence: starting a driver, the validation layer and glslang takes several times
//! as long as most cases.
//!
//! A worker runs cases of one driver and placement that need no special environment. Each case has its own time
//! limit, instance, device and output files. If a case fails, crashes or exceeds its limit, its worker ends, and the next
//! case gets a fresh one.

use super::Job;
use super::outcome::{Outcome, outcome};
use super::serve::SERVE;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vkabort_test_kit::scratch::{self, TempDir};
use vkabort_test_kit::supervise::{self, End, Finished};

/// Time that a worker may take to exit after its last case.
const EXIT_LIMIT: Duration = Duration::from_secs(20);

/// Workers that wait for their next case.
pub struct WorkerPool {
    idle: Mutex<Vec<Worker>>,
    errors: Mutex<Vec<String>>,
}

impl WorkerPool {
    /// An empty pool.
    pub const fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
            errors: Mutex::new(Vec::new()),
        }
    }

    /// Runs a case in an idle worker of its driver and placement, or in a new one.
    ///
    /// # Errors
    ///
    /// The case failed, or no worker can be started.
    pub fn run(&self, job: &Job) -> Result<Outcome> {
        let key = key(job);
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
                    Worker::start(job, key)?
                }
            }
        };
        let outcome = worker.run(job)?;
        lock(&self.idle).push(worker);
        Ok(outcome)
    }

    /// Ends all idle workers.
    ///
    /// # Errors
    ///
    /// A worker that passed all of its cases did not exit with success.
    pub fn finish(&self) -> Result<()> {
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

impl Default for WorkerPool {
    fn default() -> Self {
        Self::new()
    }
}

/// Maximum number of idle workers: one per test thread.
fn idle_limit() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(job: &Job) -> String {
    let driver = job.target.driver.as_ref().map_or("machine", |driver| &driver.name);
    format!("{driver}, {}", job.placement.name())
}

/// A process that runs cases.
struct Worker {
    key: String,
    child: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<u8>,
    scratch: TempDir,
    /// Names of the cases that it has run.
    cases: Vec<&'static str>,
}

impl Worker {
    fn start(job: &Job, key: String) -> Result<Self> {
        let scratch = match &job.target.folder {
            Some(folder) => scratch::folder_in(folder)?,
            None => scratch::folder()?,
        };
        let mut child = job
            .command(scratch.path())?
            .arg(SERVE)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(scratch.path().join("stderr"))?)
            .spawn()
            .context("cannot start a worker")?;
        let requests = child.stdin.take();
        let stdout = child.stdout.take().context("the worker has no stdout")?;
        let (send, replies) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines
                .filter_map(|line| line.parse().ok())
                .try_for_each(|code| send.send(code))
        });
        Ok(Self {
            key,
            child,
            requests,
            replies,
            scratch,
            cases: Vec::new(),
        })
    }

    fn run(&mut self, job: &Job) -> Result<Outcome> {
        let output = scratch::folder_in(self.scratch.path())?;
        for name in ["stdout", "stderr"] {
            fs::write(output.path().join(name), "")?;
        }
        let request = format!("{}\t{}\n", job.case.name, output.path().display());
        let limit = job.case.limit;
        let requests = self.requests.as_mut().context("the worker has finished")?;
        // Ignores a broken pipe: if the worker died, its exit status tells why.
        let _ = requests.write_all(request.as_bytes());
        let status = match self.replies.recv_timeout(limit) {
            Ok(code) => ExitStatus::from_raw(i32::from(code) << 8),
            Err(RecvTimeoutError::Disconnected) => match supervise::wait(&mut self.child, EXIT_LIMIT, || false)? {
                End::Exited(status) => status,
                end => bail!(supervise::timeout_message(limit, end, output.path())?),
            },
            Err(RecvTimeoutError::Timeout) => {
                let is_dead = supervise::kill(&mut self.child)?;
                let end = End::TimedOut { is_dead };
                bail!(supervise::timeout_message(limit, end, output.path())?);
            }
        };
        let finished = Finished::read(status, output.path())?;
        let result = outcome(&job.case, job.target.wine.is_some(), &finished, &finished.stderr);
        let result = result.with_context(|| format!("in a worker that ran {:?} before", self.cases));
        self.cases.push(job.case.name);
        result
    }

    fn finish(mut self) -> Result<()> {
        self.requests = None;
        let end = supervise::wait(&mut self.child, EXIT_LIMIT, || false)?;
        match end {
            End::Exited(status) if status.success() => Ok(()),
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
