//! The layer's log: standard error or a file, text or JSON lines, every line written at once and flushed.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;

/// How important a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is logged, not even aborts.
    Off,
    /// Something does not work as asked, or a shader has aborted.
    Error,
    /// Something works less well than it could.
    Warning,
    /// What the layer decided, and why.
    Info,
    /// Every module that is rewritten.
    Debug,
}

impl Level {
    /// Levels by the names that the setting takes.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("off", Self::Off),
        ("error", Self::Error),
        ("warning", Self::Warning),
        ("info", Self::Info),
        ("debug", Self::Debug),
    ];

    fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, l)| *l == self)
            .map_or("", |(name, _)| name)
    }
}

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Where lines go.
pub struct Log {
    level: Level,
    format: Format,
    file: Option<Mutex<File>>,
}

impl Log {
    /// A log. If `file` cannot be opened the lines go to standard error, with a line that says so.
    pub fn new(level: Level, format: Format, file: Option<&Path>) -> Self {
        let opened = file.map(|path| OpenOptions::new().create(true).append(true).open(path));
        let (file, problem) = match opened {
            Some(Ok(file)) => (Some(Mutex::new(file)), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let log = Self { level, format, file };
        if let Some(error) = problem {
            log.line(Level::Error, &format!("the log file cannot be opened: {error}"));
        }
        log
    }

    /// Whether lines of this level are written: ask before building an expensive one.
    pub fn takes(&self, level: Level) -> bool {
        level <= self.level && level != Level::Off
    }

    /// Whether lines are JSON objects.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether a person looks at the lines on a terminal that shows colours, and has not asked for none.
    pub fn is_terminal(&self) -> bool {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let plain = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        self.file.is_none() && !refused && !plain && io::stderr().is_terminal()
    }

    /// Writes a message.
    pub fn line(&self, level: Level, message: &str) {
        if !self.takes(level) {
            return;
        }
        self.write(&match self.format {
            Format::Text => format!("vkabort: {}: {message}\n", level.name()),
            Format::Json => format!(
                "{{\"type\":\"log\",\"level\":\"{}\",\"message\":{}}}\n",
                level.name(),
                json_string(message)
            ),
        });
    }

    /// Writes text as it is, in one piece.
    pub fn write(&self, text: &str) {
        // A log that cannot be written must not become the application's problem.
        let _ = match &self.file {
            Some(file) => match file.lock() {
                Ok(mut file) => file.write_all(text.as_bytes()).and_then(|()| file.flush()),
                Err(_) => Ok(()),
            },
            None => io::stderr().lock().write_all(text.as_bytes()),
        };
    }
}

/// A JSON string literal.
pub fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_off_takes_nothing() {
        let log = |level| Log::new(level, Format::Text, None);
        assert!(log(Level::Warning).takes(Level::Error));
        assert!(!log(Level::Warning).takes(Level::Info));
        assert!(!log(Level::Off).takes(Level::Error));
        assert!(!log(Level::Off).takes(Level::Off));
    }

    #[test]
    fn json_strings_are_escaped() {
        assert_eq!(json_string("a\"b\\\n\u{1}é"), "\"a\\\"b\\\\\\n\\u0001é\"");
    }

    #[test]
    fn lines_reach_the_file_at_once() {
        let path = std::env::temp_dir().join(format!("vkabort-log-{}", std::process::id()));
        let log = Log::new(Level::Info, Format::Json, Some(&path));
        log.line(Level::Info, "one");
        log.line(Level::Debug, "two");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(&path);
        assert_eq!(text, "{\"type\":\"log\",\"level\":\"info\",\"message\":\"one\"}\n");
    }
}
