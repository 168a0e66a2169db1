//! A child that runs several cases: those that standard input names.

use crate::{Case, in_process, streams};
use anyhow::{Context, Result};
use std::io::{BufRead, Write, stdin};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;
use vkabort_gpu::Context as CaseContext;

/// Argument that makes the program call [`serve`].
pub const SERVE: &str = "--serve";

/// Time to exit after standard input closes: a case may still run when the parent dies.
const EXIT_LIMIT: Duration = Duration::from_secs(10);

/// Runs the cases that standard input names until it is closed. A request is a line with the case's name, a tab, and a
/// folder; the case's output goes to the files `stdout` and `stderr` there. The reply, on the standard output that the
/// process was started with, is the line of the verdict. Objects that the case left to its context are then destroyed.
///
/// # Errors
///
/// A request is malformed, or the output cannot be redirected.
pub fn serve(cases: &[Case]) -> Result<()> {
    let mut replies = streams::standard_output()?;
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
        streams::redirect(Path::new(folder))?;
        let context = CaseContext::default();
        let verdict = in_process::run(case, &context);
        // SAFETY: the case has returned a verdict, which refers to no object.
        unsafe { in_process::release(&context) };
        streams::flush()?;
        writeln!(replies, "{}", verdict.line())?;
    }
    Ok(())
}
