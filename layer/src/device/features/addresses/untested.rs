//! Logs why addresses are not tested any more.

use crate::log::{Level, Log};

/// Why addresses are not tested any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untested {
    /// The table has no room for this number of buffers, until work is known to be complete.
    NoRoom(usize),
    /// The driver returned no address for a buffer, or did not tell which buffers it has bound.
    Unknown,
}

/// Logs an error.
pub(super) fn log_untested(result: Result<(), Untested>, log: &Log) {
    let reason = match result {
        Ok(()) => return,
        Err(Untested::NoRoom(buffers)) => format!(
            "for now: no room for another table of {buffers} buffers, until the program has waited for the work that uses the others"
        ),
        Err(Untested::Unknown) => "any more: the driver does not tell the address of a buffer".to_owned(),
    };
    log.line(Level::Warning, &format!("sanitize: addresses are not tested {reason}"));
}
