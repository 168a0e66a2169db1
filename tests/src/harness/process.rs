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
                None => child.kill()?,
                status => return anyhow::Ok(status),
            }
            if start.elapsed() > limit {
                return Ok(None);
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
