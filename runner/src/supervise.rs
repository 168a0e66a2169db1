//! Runs child processes with a time limit. On Unix each child leads a process group, and its end kills the whole group; on
//! Windows only the child itself is killed.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Polling interval.
const POLL: Duration = Duration::from_millis(5);
/// Time that a killed child may take to die. One that waits in a kernel driver may never die.
const GRACE: Duration = Duration::from_secs(5);
/// Lines of each stream that an error quotes.
const QUOTED_LINES: usize = 40;

#[cfg(unix)]
use unix as os;
#[cfg(windows)]
use windows as os;

pub use os::{describe, prepare};
#[cfg(unix)]
pub use unix::end_with_parent;

#[cfg(unix)]
mod unix {
    use std::io::Error;
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::{Child, Command, ExitStatus};

    /// How a process has ended.
    pub fn describe(status: ExitStatus) -> String {
        let signal = status.signal();
        match (
            status.code(),
            signal,
            signal.and_then(signal_hook::low_level::signal_name),
        ) {
            (Some(code), ..) => format!("the process ended with code {code}"),
            (None, _, Some(name)) => format!("the process crashed ({name})"),
            (None, Some(signal), None) => format!("the process was ended by signal {signal}"),
            (None, None, None) => "the process ended".into(),
        }
    }

    /// Makes the command's child a process group leader that [ends with its parent](end_with_parent).
    pub fn prepare(command: &mut Command) {
        command.process_group(0);
        end_with_parent(command);
    }

    /// Makes the kernel kill the command's child when the thread that starts it ends, also by SIGKILL. Call
    /// [`wait`](super::wait) from that thread. The kernel forgets it when the child executes a program with more privileges
    /// than its user has (prctl(2), `PR_SET_PDEATHSIG`).
    pub fn end_with_parent(command: &mut Command) {
        let parent = std::process::id();
        // SAFETY: between fork and exec the closure only makes two system calls, and an error that allocates nothing.
        unsafe {
            command.pre_exec(move || {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // A parent that ended before the call no longer sends the signal.
                match libc::getppid().cast_unsigned() == parent {
                    true => Ok(()),
                    false => Err(Error::from_raw_os_error(libc::ESRCH)),
                }
            });
        }
    }

    /// Whether the child has ended. Does not reap it, so its process id and group id stay reserved.
    pub fn has_ended(child: &mut Child) -> bool {
        // SAFETY: `siginfo_t` consists of integers and pointers, so zero is valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: `info` is writable for the call.
        let result = unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut info, options) };
        // SAFETY: `waitid` sets `si_pid`, or leaves it 0 while the child runs.
        result == 0 && unsafe { info.si_pid() } != 0
    }

    pub fn kill_group(child: &mut Child) {
        if let Ok(group) = libc::pid_t::try_from(child.id()) {
            // SAFETY: the child is not reaped yet, so the id still names its group.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::process::{Child, Command, ExitStatus};

    /// How a process has ended. The code of a crash is an `NTSTATUS` of severity error, for example 0xC0000005 for an invalid
    /// access.
    pub fn describe(status: ExitStatus) -> String {
        match status.code().unwrap_or_default() {
            code if code.cast_unsigned() >> 30 == 3 => format!("the process crashed ({code:#x})"),
            code => format!("the process ended with code {code}"),
        }
    }

    /// Nothing: Windows has no process groups.
    pub fn prepare(_: &mut Command) {}

    pub fn has_ended(child: &mut Child) -> bool {
        matches!(child.try_wait(), Ok(Some(_)))
    }

    pub fn kill_group(child: &mut Child) {
        // Fails if the child has ended.
        let _ = child.kill();
    }
}

/// End of a supervised child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited, or a signal ended it.
    Exited(ExitStatus),
    /// It exceeded its limit and was killed. `is_dead` is false if it survived the kill.
    TimedOut {
        /// The kernel reaped it.
        is_dead: bool,
    },
    /// The caller's interrupt ended it.
    Interrupted,
}

/// Waits until a child that was [prepared](prepare) ends, exceeds `limit`, or `is_interrupted` returns true. Then kills the rest of the
/// group.
///
/// # Errors
///
/// Waiting for the child fails.
pub fn wait(child: &mut Child, limit: Duration, is_interrupted: impl Fn() -> bool) -> io::Result<End> {
    let start = Instant::now();
    while !os::has_ended(child) {
        let interrupted = is_interrupted();
        if interrupted || start.elapsed() >= limit {
            let is_dead = kill(child)?;
            return Ok(if interrupted {
                End::Interrupted
            } else {
                End::TimedOut { is_dead }
            });
        }
        sleep(POLL);
    }
    os::kill_group(child);
    Ok(End::Exited(child.wait()?))
}

/// Kills a child and its group. Returns whether it died in time.
///
/// # Errors
///
/// Waiting for the child fails.
pub fn kill(child: &mut Child) -> io::Result<bool> {
    os::kill_group(child);
    let start = Instant::now();
    while !os::has_ended(child) && start.elapsed() < GRACE {
        sleep(POLL);
    }
    let is_dead = os::has_ended(child);
    if is_dead {
        child.wait()?;
    }
    Ok(is_dead)
}

/// Exit status and output of a process.
#[derive(Debug)]
pub struct Finished {
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Finished {
    /// Reads the files `stdout` and `stderr` of a folder.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn read(status: ExitStatus, folder: &Path) -> Result<Self> {
        let read = |name: &str| fs::read(folder.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Self {
            status,
            stdout: read("stdout")?,
            stderr: read("stderr")?,
        })
    }

    /// The last lines of both streams, for error messages.
    pub fn output_tail(&self) -> String {
        format!("stdout:\n{}\nstderr:\n{}", tail(&self.stdout), tail(&self.stderr))
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let quoted = lines.get(lines.len().saturating_sub(QUOTED_LINES)..);
    quoted.unwrap_or_default().join("\n")
}

/// Starts a process without input, whose output goes to the files `stdout` and `stderr` of a folder.
///
/// # Errors
///
/// A file cannot be written, or the process cannot be started.
pub fn start(command: &mut Command, folder: &Path) -> Result<Child> {
    command
        .stdin(Stdio::null())
        .stdout(File::create(folder.join("stdout"))?)
        .stderr(File::create(folder.join("stderr"))?);
    prepare(command);
    let child = command.spawn();
    child.with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()))
}

/// Runs a process for `limit` at most. Its output goes to the files `stdout` and `stderr` in `folder`.
///
/// # Errors
///
/// The process cannot be started or exceeds its limit.
pub fn run_with_limit(command: &mut Command, limit: Duration, folder: &Path) -> Result<Finished> {
    let mut child = start(command, folder)?;
    let survived = match wait(&mut child, limit, || false)? {
        End::Exited(status) => return Finished::read(status, folder),
        End::TimedOut { is_dead: false } => ", and it survived SIGKILL",
        _ => "",
    };
    let output = Finished::read(ExitStatus::default(), folder)?.output_tail();
    bail!("killed after {limit:?}{survived}\n{output}")
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<Finished> {
        let folder = tempfile::tempdir()?;
        run_with_limit(Command::new("sh").args(["-c", script]), limit, folder.path())
    }

    #[test]
    fn returns_status_and_output() -> Result<()> {
        let finished = shell("echo out; echo err >&2; exit 3", Duration::from_secs(20))?;
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.output_tail(), "stdout:\nout\nstderr:\nerr");
        Ok(())
    }

    #[test]
    fn kills_a_process_at_its_limit() {
        let start = Instant::now();
        let error = shell("echo begun; exec sleep 60", Duration::from_millis(300)).err();
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(message, "killed after 300ms\nstdout:\nbegun\nstderr:\n");
        assert!(start.elapsed() < GRACE, "{:?}", start.elapsed());
    }
}
