//! Why a command did not do what was asked, and the exit code for it.

use std::fmt;
use std::process::ExitCode;

/// Exit codes, as `vkabort --help` lists them. Code 2, wrong usage, is clap's.
pub mod code {
    /// The input is not what the command expects.
    pub const INPUT: u8 = 3;
    /// A file could not be read or written.
    pub const FILE: u8 = 4;
    /// `doctor`: no device can do it. `conform`: everything was skipped.
    pub const UNSUPPORTED: u8 = 5;
    /// `conform`: a check failed.
    pub const NONCONFORMANT: u8 = 6;
    /// `run`: something aborted.
    pub const ABORTED: u8 = 90;
}

/// A failed command.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The input is wrong: what, where, and what to do.
    pub fn input(message: impl Into<String>) -> Self {
        Self {
            code: code::INPUT,
            message: message.into(),
        }
    }

    /// `name` could not be read or written.
    pub fn file(name: &str, action: &str, error: &std::io::Error) -> Self {
        Self {
            code: code::FILE,
            message: format!("{name}: cannot be {action}: {error}"),
        }
    }

    /// The process's exit code.
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
