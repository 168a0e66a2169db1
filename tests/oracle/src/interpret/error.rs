//! Errors of the interpreter.

use crate::module::Id;
use std::fmt;

/// Reason why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterpretError {
    /// Undefined behaviour.
    Undefined(String),
    /// An unsupported instruction or a malformed module.
    Unsupported(String),
    /// The step limit was exceeded in this block.
    StepLimit(Id),
}

impl fmt::Display for InterpretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined(reason) => write!(f, "undefined behaviour: {reason}"),
            Self::Unsupported(reason) => write!(f, "not supported by the interpreter: {reason}"),
            Self::StepLimit(block) => write!(f, "the step limit was exceeded in block %{block}"),
        }
    }
}

impl std::error::Error for InterpretError {}

/// Result of the interpreter's functions.
pub type Result<T> = std::result::Result<T, InterpretError>;

pub(crate) fn undefined<T>(reason: impl Into<String>) -> Result<T> {
    Err(InterpretError::Undefined(reason.into()))
}

pub(crate) fn unsupported<T>(reason: impl Into<String>) -> Result<T> {
    Err(InterpretError::Unsupported(reason.into()))
}
