//! The worker's side of [`WorkerPool`](super::WorkerPool): runs cases that standard input names.

use crate::case::{self, Case};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufRead, Write, stdin, stdout};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Argument that makes the program call [`serve`].
pub const SERVE: &str = "--serve";

/// Time to exit after standard input closes: a case may still run when the parent dies.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

/// Runs the cases that standard input names until it is closed. A request is a line with the case's name, a tab, and a
/// folder; the case's output goes to the files `stdout` and `stderr` there. The reply, on the standard output that the
/// process was started with, is a line with the exit code.
///
/// # Errors
///
/// A request is malformed, or the output cannot be redirected.
pub fn serve(cases: &[Case]) -> Result<()> {
    let mut replies = File::from(stdout().as_fd().try_clone_to_owned()?);
    let (send, requests) = channel();
    std::thread::spawn(move || {
        let lines = stdin().lock().lines().map_while(Result::ok);
        let _ = lines.map(|line| send.send(line)).find(Result::is_err);
        drop(send);
        std::thread::sleep(EXIT_LIMIT);
        std::process::exit(1);
    });
    for request in requests {
        let (name, folder) = request.split_once('\t').context("a request without a folder")?;
        let case = cases.iter().find(|case| case.name == name);
        let case = case.with_context(|| format!("unknown case {name}"))?;
        redirect(libc::STDOUT_FILENO, &Path::new(folder).join("stdout"))?;
        redirect(libc::STDERR_FILENO, &Path::new(folder).join("stderr"))?;
        let code = case::run_here(case);
        flush()?;
        writeln!(replies, "{code}")?;
    }
    Ok(())
}

/// Makes a standard stream write to a file.
fn redirect(stream: i32, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    // SAFETY: both descriptors are open; `dup2` replaces the stream's atomically.
    check(unsafe { libc::dup2(file.as_raw_fd(), stream) })?;
    Ok(())
}

/// Flushes Rust's and C's buffers.
fn flush() -> Result<()> {
    stdout().flush()?;
    // SAFETY: null flushes every output stream of the C library.
    check(unsafe { libc::fflush(std::ptr::null_mut()) })?;
    Ok(())
}

/// # Errors
///
/// `result` is -1; the error is `errno`.
fn check(result: i32) -> std::io::Result<i32> {
    if result == -1 {
        Err(std::io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
