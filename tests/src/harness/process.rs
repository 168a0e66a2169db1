//! Processes with a time limit, and what they wrote.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a killed process may take to die. One that waits in a driver of the kernel may never.
const GRACE: Duration = Duration::from_secs(5);

/// How a process ended and what it wrote.
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Ended {
    /// The end of both streams, for a failure's text.
    pub fn said(&self) -> String {
        said(&self.stdout, &self.stderr)
    }
}

fn said(stdout: &str, stderr: &str) -> String {
    format!("stdout:\n{}\nstderr:\n{}", last_lines(stdout), last_lines(stderr))
}

/// At most forty lines: what went wrong stands at the end.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines
        .get(lines.len().saturating_sub(40)..)
        .unwrap_or_default()
        .join("\n")
}

/// Lets the kernel kill the command's process when the thread that starts it ends: whoever kills a test, or a part of the
/// bundle, leaves no process behind that keeps a device busy.
pub fn die_with_parent(command: &mut Command) {
    // SAFETY: between fork and exec only `prctl` is called, which is a system call and nothing else.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

/// Runs a process and kills it when its time is over.
///
/// # Errors
///
/// It could not be started, or its time was over.
pub fn run_within(command: &mut Command, limit: Duration, scratch: &Path) -> Result<Ended> {
    let (out, err) = (scratch.join("stdout"), scratch.join("stderr"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    die_with_parent(command);
    let mut child = command.spawn().context("cannot start the process")?;
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut ended = |limit: Duration| {
        let start = Instant::now();
        loop {
            match child.try_wait()? {
                None if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
                None => {
                    child.kill()?;
                    return Ok(None);
                }
                status => return anyhow::Ok(status),
            }
        }
    };
    if let Some(status) = ended(limit)? {
        return Ok(Ended {
            status,
            stdout: read(&out)?,
            stderr: read(&err)?,
        });
    }
    let dead = if ended(GRACE)?.is_some() {
        ""
    } else {
        ", and not when it was killed"
    };
    bail!("not over after {limit:?}{dead}\n{}", said(&read(&out)?, &read(&err)?));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Scratch;

    fn shell(script: &str, limit: Duration) -> Result<Ended> {
        let scratch = Scratch::new()?;
        run_within(Command::new("sh").args(["-c", script]), limit, &scratch.0)
    }

    #[test]
    fn what_a_process_wrote_and_how_it_ended_is_known() -> Result<()> {
        let ended = shell("echo out; echo err >&2; exit 3", Duration::from_secs(20))?;
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(ended.said(), "stdout:\nout\nstderr:\nerr");
        Ok(())
    }

    #[test]
    fn a_process_whose_time_is_over_is_killed() {
        let start = Instant::now();
        let refused = shell("echo begun; exec sleep 60", Duration::from_millis(300)).err();
        let said = refused.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(said, "not over after 300ms\nstdout:\nbegun\nstderr:\n");
        assert!(start.elapsed() < GRACE, "{:?}", start.elapsed());
    }
}
