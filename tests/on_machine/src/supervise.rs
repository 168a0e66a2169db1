//! Runs each part in a child process with a time limit. Results written before a crash count.

use crate::devices::Chosen;
use crate::interrupt;
use crate::parts::Part;
use crate::results::{self, Comparison, Line};
use crate::unpacked::Unpacked;
use anyhow::{Context, Result};
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use vkabort_test_kit::supervise::{self, End};

/// Results of a part.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The part's name.
    pub part: String,
    /// Number of tests that passed.
    pub passed: usize,
    /// Failed tests: name and text.
    pub failed: Vec<(String, String)>,
    /// Skipped tests: name and reason.
    pub skipped: Vec<(String, String)>,
    /// Measurements.
    pub compared: Vec<Comparison>,
    /// Facts about the machine.
    pub facts: Vec<String>,
    /// Duration.
    pub time: Duration,
    /// Output of its processes.
    pub log: PathBuf,
}

/// Runs a part.
///
/// # Errors
///
/// Its process cannot be started.
pub fn run(part: &Part, unpacked: &Unpacked, device: &Chosen, limit: Duration) -> Result<Row> {
    let file = part.name.replace(':', "-");
    let log = unpacked.folder.join("logs").join(format!("{file}.log"));
    let written = unpacked.folder.join("logs").join(format!("{file}.jsonl"));
    let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(&unpacked.program);
    command
        .args(["--child", &part.name, "--device", &device.label])
        .args(device.device.native.then_some("--force"))
        .args(["--limit", &limit.as_secs().to_string(), "--folder"])
        .arg(&unpacked.folder)
        .arg("--results")
        .arg(&written)
        .env("TMPDIR", unpacked.folder.join("temporary"))
        .envs(unpacked.variables())
        .stdin(Stdio::null())
        .stderr(out.try_clone()?)
        .stdout(out);
    supervise::prepare(&mut command);
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", unpacked.program.display()))?;
    let end = supervise::wait(&mut child, limit, || interrupt::arrived().is_some())?;
    let mut row = Row {
        part: part.name.clone(),
        time: start.elapsed(),
        log,
        ..Row::default()
    };
    let running = row.add_lines(results::read(&written));
    row.add_end(end, running, limit);
    Ok(row)
}

impl Row {
    /// Counts the lines. Returns the test that started and did not end.
    fn add_lines(&mut self, lines: Vec<Line>) -> Option<String> {
        let mut running = None;
        for line in lines {
            match line {
                Line::Started(name) => {
                    running = Some(name);
                    continue;
                }
                Line::Passed(_) => self.passed += 1,
                Line::Skipped(name, reason) => self.skipped.push((name, reason)),
                Line::Failed(name, text) => self.failed.push((name, text)),
                Line::Compared(compared) => {
                    self.passed += 1;
                    self.compared.push(compared);
                }
                Line::Fact(text) => {
                    self.facts.push(text);
                    continue;
                }
            }
            running = None;
        }
        running
    }

    /// Adds a failure if the process ended badly.
    fn add_end(&mut self, end: End, running: Option<String>, limit: Duration) {
        let text = match end {
            End::Exited(status) if status.success() && running.is_none() => return,
            // The part reported its failures.
            End::Exited(status) if status.code() == Some(1) && !self.failed.is_empty() => return,
            End::Exited(status) => match status.signal() {
                Some(signal) => format!("the process died of {}", interrupt::name(signal)),
                None => format!("the process ended with code {}", status.code().unwrap_or(-1)),
            },
            End::TimedOut { is_dead: true } => format!("killed after {} s", limit.as_secs()),
            End::TimedOut { is_dead: false } => format!("killed after {} s, and it survived SIGKILL", limit.as_secs()),
            End::Interrupted => "interrupted".to_owned(),
        };
        self.failed.push((running.unwrap_or_else(|| self.part.clone()), text));
    }
}
