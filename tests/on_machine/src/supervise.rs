//! A part in a child process with a time limit. However it ends, what it has written counts.

use crate::carried::Carried;
use crate::devices::Chosen;
use crate::interrupt;
use crate::parts::Part;
use crate::results::{self, Comparison, Line};
use anyhow::{Context, Result};
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use vkabort_test_kit::bundle::SPIRV_TOOLS;
use vkabort_test_kit::spirv_tools;
use vkabort_tests::files;
use vkabort_tests::harness::die_with_parent;

/// How often a child is looked at.
const POLL: Duration = Duration::from_millis(10);
/// How long a killed child may take to die. One that waits in a driver of the kernel may never.
const GRACE: Duration = Duration::from_secs(5);

/// A part that was run.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub part: String,
    /// What held.
    pub passed: usize,
    /// What failed: name and text.
    pub failed: Vec<(String, String)>,
    /// What does not apply: name and reason.
    pub skipped: Vec<(String, String)>,
    /// What was measured.
    pub compared: Vec<Comparison>,
    /// What was found out.
    pub facts: Vec<String>,
    /// How long it took.
    pub time: Duration,
    /// What its processes wrote.
    pub log: PathBuf,
}

/// How a child ended.
enum End {
    Exited(ExitStatus),
    TimeOver { dead: bool },
    Interrupted,
}

/// Runs a part.
///
/// # Errors
///
/// Its process cannot be started.
pub fn run(part: &Part, carried: &Carried, device: &Chosen, limit: Duration) -> Result<Row> {
    let file = part.name.replace(':', "-");
    let log = carried.folder.join("logs").join(format!("{file}.log"));
    let written = carried.folder.join("logs").join(format!("{file}.jsonl"));
    let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new(&carried.program);
    command
        .args(["--child", &part.name, "--device", &device.label])
        .args(device.device.native.then_some("--force"))
        .args(["--limit", &limit.as_secs().to_string(), "--folder"])
        .arg(&carried.folder)
        .arg("--results")
        .arg(&written)
        .env("TMPDIR", carried.folder.join("temporary"))
        .env(files::VARIABLE, carried.folder.join("files"))
        .env(spirv_tools::VARIABLE, carried.folder.join(SPIRV_TOOLS))
        .stdin(Stdio::null())
        .stderr(out.try_clone()?)
        .stdout(out)
        // A group of its own, so that all that the part starts can be ended with it.
        .process_group(0);
    die_with_parent(&mut command);
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", carried.program.display()))?;
    let end = wait(&mut child, limit)?;
    let mut row = Row {
        part: part.name.clone(),
        passed: 0,
        failed: Vec::new(),
        skipped: Vec::new(),
        compared: Vec::new(),
        facts: Vec::new(),
        time: start.elapsed(),
        log,
    };
    let running = row.take(results::read(&written));
    row.judge(&end, running, limit);
    Ok(row)
}

fn wait(child: &mut Child, limit: Duration) -> Result<End> {
    let start = Instant::now();
    loop {
        if is_over(child) {
            // What it started and left behind goes too, while the group's number is still its own.
            kill_group(child);
            return Ok(End::Exited(child.wait()?));
        }
        let interrupted = interrupt::arrived().is_some();
        if interrupted || start.elapsed() >= limit {
            kill_group(child);
            let killed = Instant::now();
            while !is_over(child) && killed.elapsed() < GRACE {
                std::thread::sleep(POLL);
            }
            let dead = is_over(child);
            if dead {
                child.wait()?;
            }
            return Ok(if interrupted {
                End::Interrupted
            } else {
                End::TimeOver { dead }
            });
        }
        std::thread::sleep(POLL);
    }
}

/// Whether the child has ended, without forgetting it.
fn is_over(child: &Child) -> bool {
    // SAFETY: a structure of integers, for which zero is valid.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the child has not been waited for, and the structure is ours.
    let result = unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut info, options) };
    // SAFETY: `waitid` fills this member, or leaves it 0.
    result == 0 && unsafe { info.si_pid() } != 0
}

fn kill_group(child: &Child) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: the group is the child's, which has not been waited for.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

impl Row {
    /// Counts the lines. Returns what had begun and not ended.
    fn take(&mut self, lines: Vec<Line>) -> Option<String> {
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

    fn judge(&mut self, end: &End, running: Option<String>, limit: Duration) {
        let what = match end {
            End::Exited(status) if status.success() && running.is_none() => return,
            // A part that knows what failed says so, and ends like that.
            End::Exited(status) if status.code() == Some(1) && !self.failed.is_empty() => return,
            End::Exited(status) => match status.signal() {
                Some(signal) => format!("the process died of {}", interrupt::name(signal)),
                None => format!("the process ended with code {}", status.code().unwrap_or(-1)),
            },
            End::TimeOver { dead: true } => format!("not over after {} s: killed", limit.as_secs()),
            End::TimeOver { dead: false } => {
                format!("not over after {} s, and not when it was killed", limit.as_secs())
            }
            End::Interrupted => "interrupted".to_owned(),
        };
        self.failed.push((running.unwrap_or_else(|| self.part.clone()), what));
    }
}
