//! Errors of commands, their exit codes, and the names of files in them.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use vkabort_record::escape::escape_bytes;

/// Exit codes, as `vkabort --help` lists them.
pub mod code {
    /// Wrong usage, the code of clap.
    pub const USAGE: u8 = 2;
    /// The input is not valid.
    pub const INPUT: u8 = 3;
    /// A file cannot be read or written, or a program cannot be started.
    pub const FILE: u8 = 4;
    /// `doctor`: no device supports shader aborts. `conform`: every check was skipped.
    pub const UNSUPPORTED: u8 = 5;
    /// `conform`: a check failed, crashed or hung.
    pub const NONCONFORMANT: u8 = 6;
    /// `check --werror`: a warning was found.
    pub const WARNED: u8 = 7;
    /// `run`: a shader aborted.
    pub const ABORTED: u8 = 90;
}

/// An error of a command.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The command is used wrongly, in a way that clap cannot detect.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            code: code::USAGE,
            message: message.into(),
        }
    }

    /// The input is not valid. The message names the problem, its place, and the remedy.
    pub fn input(message: impl Into<String>) -> Self {
        Self {
            code: code::INPUT,
            message: message.into(),
        }
    }

    /// `name` cannot be read, written, started: `action` is the participle.
    pub fn file(name: &str, action: &str, error: &io::Error) -> Self {
        Self {
            code: code::FILE,
            message: format!("{name}: cannot be {action}: {error}"),
        }
    }

    /// [`Failure::file`] for a path.
    pub fn path(path: &Path, action: &str, error: &io::Error) -> Self {
        Self::file(&input_name(path), action, error)
    }

    /// Exit code of the process.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Result of a command or of a part of it.
pub type Result<T> = std::result::Result<T, Failure>;

/// Name of a file in messages: its path, in which invalid UTF-8 is escaped, or `standard input` for `-`.
pub fn input_name(path: &Path) -> String {
    if is_standard(path) {
        return "standard input".to_owned();
    }
    escape_bytes(path.as_os_str().as_encoded_bytes())
}

/// Whether the path is `-`.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}
