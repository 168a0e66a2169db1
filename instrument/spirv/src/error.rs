//! The error type of the crate.

use std::fmt;

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The words are not a SPIR-V module: cut short, wrong magic, an instruction that runs past the end.
    Malformed,
    /// The module breaks a rule that the rewrite relies on.
    Invalid,
    /// The module uses a feature that this version does not rewrite.
    Unsupported,
    /// The module uses a message with a long array whose type has a layout, not loaded in the block of the abort. From SPIR-V
    /// 1.4 on such arrays are copied; arrays of unspecialised length and few elements always are.
    UnsupportedArray,
    /// A limit is exceeded: message size, ids, nesting.
    Limit,
}

/// Why a module was not rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The step that failed: `scan`, `index`, `layout`, or a pass.
    pub pass: &'static str,
    /// Word offset of the instruction in the original module.
    pub offset: Option<u32>,
    /// The problem and its remedy, in one sentence.
    pub message: String,
    /// The module has constant data that a pipeline can specialise, which may remove the problem.
    pub is_specializable: bool,
}

impl Error {
    pub fn new(
        kind: ErrorKind,
        pass: &'static str,
        offset: impl Into<Option<u32>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            pass,
            offset: offset.into(),
            message: message.into(),
            is_specializable: false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ErrorKind::Malformed => "malformed module",
            ErrorKind::Invalid => "invalid module",
            ErrorKind::Unsupported | ErrorKind::UnsupportedArray => "unsupported",
            ErrorKind::Limit => "limit exceeded",
        };
        match self.offset {
            Some(offset) => write!(f, "{kind} at word {offset} ({}): {}", self.pass, self.message),
            None => write!(f, "{kind} ({}): {}", self.pass, self.message),
        }
    }
}

impl std::error::Error for Error {}

/// The result type of the crate.
pub type Result<T> = std::result::Result<T, Error>;
