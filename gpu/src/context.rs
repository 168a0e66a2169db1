//! Input of a running case, and the error that skips it.

use crate::{Messages, Owner};
use std::fmt;
use std::sync::Arc;

/// Input of a running case.
#[derive(Default)]
pub struct Context {
    /// Messages of the validation layer.
    pub messages: Arc<Messages>,
    /// Objects that outlive the case, so that its verdict is known before a driver destroys them.
    pub owner: Owner,
}

/// Error of a case that does not apply to the device, with the reason.
#[derive(Debug)]
pub struct Skip(pub String);

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped: {}", self.0)
    }
}

impl std::error::Error for Skip {}
