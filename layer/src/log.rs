//! The layer's log: to standard error or a file, as text or JSON lines. Every line is written in one piece and flushed.

use crate::environment;
use crate::locks::{lock, try_lock};
use crate::os;
use crate::private_file::{self, Access};
use crate::settings::Choice as _;
pub use crate::settings::{Format, Level};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use vkabort_record::escape::{json_text, one_line};

/// A log.
pub struct Log {
    level: Level,
    format: Format,
    /// `None`: standard error.
    file: Option<Mutex<File>>,
}

impl Log {
    /// Opens a log that appends to `file`. Without a file, or if it cannot be opened, the log is standard error.
    pub fn new(level: Level, format: Format, file: Option<&Path>) -> Self {
        let mut log = Self {
            level,
            format,
            file: None,
        };
        if let Some(path) = file {
            match private_file::open(path, Access::Append) {
                Ok(file) => log.file = Some(Mutex::new(file)),
                Err(error) => {
                    let path = path.display();
                    let text = format!("log_file = {path}: cannot open the file: {error}; logging to standard error");
                    log.line(Level::Error, &text);
                }
            }
        }
        log
    }

    /// Whether lines of this level are written. Check it before building an expensive line.
    pub fn is_enabled(&self, level: Level) -> bool {
        level <= self.level && level != Level::Off
    }

    /// The format of lines.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the log is a terminal that shows colours. The user can disable them (`NO_COLOR`, `TERM=dumb`).
    pub fn has_colors(&self) -> bool {
        let disabled = environment::variable("NO_COLOR").is_some();
        let dumb = environment::variable("TERM").is_some_and(|value| value == "dumb");
        self.file.is_none() && !disabled && !dumb && io::stderr().is_terminal()
    }

    /// Writes a line, if its level is enabled. The message may quote settings, files and drivers, which are not trusted: as
    /// text, its control characters are escaped.
    pub fn line(&self, level: Level, message: &str) {
        if !self.is_enabled(level) {
            return;
        }
        let level = level.name();
        self.write(&match self.format {
            Format::Text => format!("vkabort: {level}: {}\n", one_line(message)),
            Format::Json => {
                let message = serde_json::Value::from(message);
                json_text(&format!(
                    "{{\"type\":\"log\",\"level\":\"{level}\",\"message\":{message}}}\n"
                ))
            }
        });
    }

    /// Writes text unchanged, in one piece. Empty text has no effect.
    pub fn write(&self, text: &str) {
        // A failure to log must not affect the application.
        let _ = match &self.file {
            Some(file) => lock(file).write_all(text.as_bytes()),
            None => io::stderr().lock().write_all(text.as_bytes()),
        };
    }

    /// As [`Self::write`], without waiting for a thread that is writing: the text is then lost in a file, and mixed with that
    /// of the other thread on standard error.
    pub fn try_write(&self, text: &str) {
        let _ = match &self.file {
            Some(file) => try_lock(file).map_or(Ok(()), |mut file| file.write_all(text.as_bytes())),
            None => os::stderr_file().and_then(|mut file| file.write_all(text.as_bytes())),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_off_enables_nothing() {
        let log = |level| Log::new(level, Format::Text, None);
        assert!(log(Level::Warning).is_enabled(Level::Error));
        assert!(!log(Level::Warning).is_enabled(Level::Info));
        assert!(!log(Level::Off).is_enabled(Level::Error));
        assert!(!log(Level::Off).is_enabled(Level::Off));
    }

    fn json_log(name: &str, write: impl FnOnce(&Log)) -> String {
        log_of(name, Format::Json, write)
    }

    fn log_of(name: &str, format: Format, write: impl FnOnce(&Log)) -> String {
        let path = std::env::temp_dir().join(format!("vkabort-log-{name}-{}", std::process::id()));
        let log = Log::new(Level::Info, format, Some(&path));
        write(&log);
        // Read while the log is still open.
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        text
    }

    #[test]
    fn json_messages_are_escaped() {
        let text = json_log("escape", |log| log.line(Level::Error, "a\"b\\\n\u{1}é"));
        assert_eq!(
            text,
            "{\"type\":\"log\",\"level\":\"error\",\"message\":\"a\\\"b\\\\\\n\\u0001é\"}\n"
        );
    }

    #[test]
    fn a_message_cannot_forge_lines_or_control_a_terminal() {
        let hostile = "a\u{1b}[2J\u{9b}b\nvkabort: error: forged";
        let text = log_of("forged", Format::Text, |log| log.line(Level::Error, hostile));
        assert_eq!(text, "vkabort: error: a\\x1b[2J\\u{9b}b\\nvkabort: error: forged\n");
        let text = json_log("forged_json", |log| log.line(Level::Error, hostile));
        assert!(
            text.lines().count() == 1 && text.contains("\\u001b[2J\\u009bb\\n"),
            "{text:?}"
        );
    }

    #[test]
    fn try_write_does_not_wait_for_another_writer() {
        let text = log_of("busy", Format::Text, |log| {
            let writer = lock(log.file.as_ref().expect("a file"));
            log.try_write("lost\n");
            drop(writer);
            log.try_write("written\n");
        });
        assert_eq!(text, "written\n");
    }

    #[test]
    fn lines_reach_the_file_at_once() {
        let text = json_log("flush", |log| {
            log.line(Level::Info, "one");
            log.line(Level::Debug, "two");
        });
        assert_eq!(text, "{\"type\":\"log\",\"level\":\"info\",\"message\":\"one\"}\n");
    }
}
