//! The settings that the handling of a loss reads.

use std::time::Duration;

/// See `settings/src/choice.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnAbort {
    /// The device is lost.
    Lose,
    /// The abort is reported, and the device stays.
    Continue,
    /// The same of failed checks.
    ContinueChecks,
}

/// See `settings/src/table.rs`.
pub struct Settings {
    /// The effect of an abort.
    pub on_abort: OnAbort,
    /// Longest drain after an abort.
    pub drain_timeout: Duration,
    /// Longest wait for the driver after a trap.
    pub trap_timeout: Duration,
}
