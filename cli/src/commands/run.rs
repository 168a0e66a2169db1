//! `vkabort run`
//!
//! The layer writes its log as JSON lines into a file; this follows the file while the program runs, shows every report
//! as soon as it is whole, and knows at the end whether anything aborted.

use crate::args::RunArgs;
use crate::failure::{Failure, Result, code};
use crate::launch::Stage;
use crate::manifest::variable;
use crate::{io, junit, locate, signals};
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};
use vkabort_record::escape::one_line;
use vkabort_record::report::Report;

/// How often the log is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Runs a program under the layer.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Failure::input("no program is given"));
    };
    let stage = Stage::new(&locate::library(args.layer.as_deref())?)?;
    let log = match &args.report {
        Some(path) => std::path::absolute(path).map_err(|error| Failure::file(path, "found", &error))?,
        None => stage.file("report.jsonl"),
    };
    // An old report at the same place must not count.
    std::fs::write(&log, b"").map_err(|error| Failure::file(&log.display().to_string(), "written", &error))?;
    let mut command = Command::new(program);
    command.args(arguments);
    stage.prepare(&mut command);
    for (key, value) in &args.set {
        if key == "log_file" || key == "log_format" {
            return Err(Failure::input(format!(
                "`{key}` is used by `vkabort run` itself: keep the report with --report FILE"
            )));
        }
        if key == "log_level" && value.eq_ignore_ascii_case("off") {
            return Err(Failure::input(
                "`log_level = off` would hide the aborts from `vkabort run`",
            ));
        }
        command.env(variable(key, value)?, value);
    }
    command
        .env(variable("log_file", "")?, &log)
        .env(variable("log_format", "json")?, "json");
    // What the layer decided is wanted here in any case: whether it was there at all shows in it.
    let asked = args.set.iter().rev().find(|(key, _)| key == "log_level");
    let asked = asked.map(|(_, value)| value.to_ascii_lowercase());
    let level = asked.as_deref();
    let least = level.filter(|level| *level == "debug").unwrap_or("info");
    command.env(variable("log_level", least)?, least);
    let name = program.to_string_lossy();
    let started = Instant::now();
    signals::catch();
    let mut child = command
        .spawn()
        .map_err(|error| Failure::file(&name, "started", &error))?;
    let mut follower = Follower::new(&log, args, level);
    let mut followed = Ok(());
    let status = loop {
        // A log that cannot be read does not end the program.
        if followed.is_ok() {
            followed = follower.follow();
        }
        signals::pass_on(&child);
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => std::thread::sleep(POLL),
            Err(error) => return Err(Failure::file(&name, "waited for", &error)),
        }
    };
    followed?;
    let (reports, said) = follower.finish()?;
    if let Some(path) = &args.junit {
        let words: Vec<String> = args.command.iter().map(|w| w.to_string_lossy().into_owned()).collect();
        let exit = (!status.success()).then(|| status.to_string());
        let document = junit::document(&words.join(" "), exit.as_deref(), started.elapsed(), &reports);
        io::write(path, document.as_bytes())?;
    }
    if reports.iter().any(|report| !report.is_empty()) {
        let aborted: u64 = reports.iter().map(|r| r.summary.invocations).sum();
        if !status.success() {
            io::note(&format!("{name}: {status}"));
        }
        io::note(&format!(
            "{name}: {aborted} shader invocation{} aborted",
            if aborted == 1 { "" } else { "s" }
        ));
        return Ok(ExitCode::from(code::ABORTED));
    }
    if !said {
        io::note(&format!(
            "{name}: the layer was not used: the program has asked no Vulkan device what it can do"
        ));
    }
    Ok(exit_code(status))
}

/// How important a line has to be to be shown: those of the layer's levels that are at least `level`.
fn shown(level: Option<&str>) -> &'static [&'static str] {
    match level {
        Some("error") => &["error"],
        Some("info") => &["error", "warning", "info"],
        Some("debug") => &["error", "warning", "info", "debug"],
        _ => &["error", "warning"],
    }
}

/// The program's own exit code, as a shell gives it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code & 0xff).unwrap_or(1),
        (None, Some(signal)) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        _ => 1,
    };
    ExitCode::from(code)
}

/// Reads a log as it grows.
struct Follower<'a> {
    log: &'a Path,
    args: &'a RunArgs,
    shown: &'static [&'static str],
    file: Option<File>,
    /// What was read and is not a whole report yet.
    pending: String,
    reports: Vec<Report>,
    /// The layer has written a line.
    said: bool,
}

impl<'a> Follower<'a> {
    fn new(log: &'a Path, args: &'a RunArgs, level: Option<&str>) -> Self {
        Self {
            log,
            args,
            shown: shown(level),
            file: None,
            pending: String::new(),
            reports: Vec::new(),
            said: false,
        }
    }

    /// Shows the reports that have become whole, and what the layer says between them.
    fn follow(&mut self) -> Result<()> {
        self.read()?;
        let line_end = |at: usize| Some(at + self.pending.get(at..)?.find('\n')? + 1);
        // A report ends with its summary's line: what follows the last one waits for its own.
        let end = match self.pending.rfind("{\"type\":\"summary\"").and_then(line_end) {
            None if !self.pending.contains("{\"type\":\"abort\"") => self.pending.rfind('\n').map(|at| at + 1),
            end => end,
        };
        if let Some(end) = end {
            let rest = self.pending.split_off(end);
            let text = std::mem::replace(&mut self.pending, rest);
            self.show(&text)?;
        }
        Ok(())
    }

    /// Shows what is left once the program has ended. All reports, and whether the layer said anything at all.
    fn finish(mut self) -> Result<(Vec<Report>, bool)> {
        self.read()?;
        // A process that dies in the middle of a line leaves a piece that is no JSON.
        let end = self.pending.rfind('\n').map_or(0, |at| at + 1);
        self.pending.truncate(end);
        let text = std::mem::take(&mut self.pending);
        self.show(&text)?;
        Ok((self.reports, self.said))
    }

    fn read(&mut self) -> Result<()> {
        let name = || self.log.display().to_string();
        if self.file.is_none() {
            self.file = Some(File::open(self.log).map_err(|error| Failure::file(&name(), "read", &error))?);
        }
        let mut bytes = Vec::new();
        if let Some(file) = &mut self.file {
            file.read_to_end(&mut bytes)
                .map_err(|error| Failure::file(&self.log.display().to_string(), "read", &error))?;
        }
        // The layer writes whole lines of UTF-8; a character cut by the end of the file is replaced at worst.
        self.pending.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    }

    fn show(&mut self, text: &str) -> Result<()> {
        let mut reports = Report::read_json_lines(text)
            .map_err(|error| Failure::input(format!("{}: {error}", self.log.display())))?;
        let color = std::io::stderr().is_terminal() && io::color_wanted();
        for line in text.lines().filter(|line| line.starts_with("{\"type\":\"log\"")) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            let (level, message) = (line["level"].as_str(), line["message"].as_str());
            if let (Some(level), Some(message)) = (level, message)
                // That a device cannot be helped is what the user has to know, however quiet the rest.
                && (self.shown.contains(&level) || message.contains("cannot emulate"))
            {
                io::note(&format!("{level}: {}", one_line(message)));
            }
        }
        self.said |= !text.trim().is_empty();
        if let Some(filter) = &self.args.filter {
            reports.iter_mut().for_each(|report| filter.apply(report));
        }
        for report in &reports {
            io::print_error(&if self.args.json {
                report.json_lines()
            } else {
                report.text(color)
            });
        }
        self.reports.extend(reports);
        Ok(())
    }
}
