//! Reads the layer's log while it grows and shows its reports and messages.

use crate::failure::{Failure, Result};
use crate::io;
use console::Term;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use vkabort_report::Styled;
use vkabort_report::json::{Entry, read_log};
use vkabort_report::{Filter, Report};

/// Shows every report of a log as soon as it is complete, and every print.
pub struct LogFollower<'a> {
    path: &'a Path,
    file: Option<File>,
    filter: Option<&'a Filter>,
    /// Show reports and prints as JSON lines.
    json: bool,
    /// Show the invocations of prints.
    with_invocation: bool,
    /// Levels of the messages to show.
    levels: &'static [&'static str],
    /// Why devices are not emulated. Every instance of a program says it.
    refusals: HashSet<String>,
    /// Text without a complete report.
    pending: String,
    log: Log,
}

/// Content of a log.
pub struct Log {
    /// All reports, filtered.
    pub reports: Vec<Report>,
    /// Whether the layer wrote nothing.
    pub is_empty: bool,
    /// Modules whose aborts have no effect, since their device did not enable the extension or the feature.
    pub unused_modules: usize,
}

impl<'a> LogFollower<'a> {
    /// Follows the log at `path`. Shows messages of `level`, by default `warning`, and above. `json`: reports and prints as JSON
    /// lines. `with_invocation`: the invocations of prints.
    pub fn new(
        path: &'a Path,
        filter: Option<&'a Filter>,
        (json, with_invocation): (bool, bool),
        level: Option<&str>,
    ) -> Self {
        Self {
            path,
            file: None,
            filter,
            json,
            with_invocation,
            levels: match level {
                Some("error") => &["error"],
                Some("info") => &["error", "warning", "info"],
                Some("debug") => &["error", "warning", "info", "debug"],
                _ => &["error", "warning"],
            },
            refusals: HashSet::new(),
            pending: String::new(),
            log: Log {
                reports: Vec::new(),
                is_empty: true,
                unused_modules: 0,
            },
        }
    }

    /// Shows the reports that are complete, and the messages between them.
    ///
    /// # Errors
    ///
    /// The log cannot be read or is malformed.
    pub fn follow(&mut self) -> Result<()> {
        self.read()?;
        let line_end = |at: usize| Some(at + self.pending.get(at..)?.find('\n')? + 1);
        // The line of its summary completes a report; lines after the last summary wait for their own.
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

    /// Shows the rest of the log after the program has ended, and returns the whole log.
    ///
    /// # Errors
    ///
    /// The log cannot be read or is malformed.
    pub fn finish(mut self) -> Result<Log> {
        self.read()?;
        // A process that dies while it writes leaves an incomplete line, which is not JSON.
        let end = self.pending.rfind('\n').map_or(0, |at| at + 1);
        self.pending.truncate(end);
        let text = std::mem::take(&mut self.pending);
        self.show(&text)?;
        Ok(self.log)
    }

    fn read(&mut self) -> Result<()> {
        let failed = |error: std::io::Error| Failure::path(self.path, "read", &error);
        let file = match &mut self.file {
            Some(file) => file,
            file => file.insert(File::open(self.path).map_err(failed)?),
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        // The layer writes whole lines of UTF-8, so that only an incomplete last line can end inside a character.
        self.pending.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    }

    /// Whether a message gives a reason, not seen before, why a device is not emulated.
    fn is_new_refusal(&mut self, message: &str) -> bool {
        message.contains("cannot emulate") && self.refusals.insert(message.to_owned())
    }

    fn show(&mut self, text: &str) -> Result<()> {
        let entries =
            read_log(text).map_err(|error| Failure::input(format!("{}: {error}", io::input_name(self.path))))?;
        for line in text.lines().filter(|line| line.starts_with("{\"type\":\"log\"")) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            let (level, message) = (line["level"].as_str(), line["message"].as_str());
            if let (Some(level), Some(message)) = (level, message)
                // Without emulation there are no reports: show the reason at any level.
                && (self.levels.contains(&level) || self.is_new_refusal(message))
            {
                let is_unused = level == "error" && message.contains("but this device did not enable");
                self.log.unused_modules += usize::from(is_unused);
                io::note(&format!("{level}: {message}"));
            }
        }
        self.log.is_empty &= text.trim().is_empty();
        let color = io::has_color(&std::io::stderr());
        let columns = io::columns(&Term::stderr());
        for mut entry in entries {
            if let (Entry::Report(report), Some(filter)) = (&mut entry, self.filter) {
                filter.apply(report);
            }
            io::print_error(&match self.json {
                true => Styled::plain(&entry.json_lines()),
                false => entry.styled(color, columns, self.with_invocation),
            });
            if let Entry::Report(report) = entry {
                self.log.reports.push(report);
            }
        }
        Ok(())
    }
}
