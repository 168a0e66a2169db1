//! Outcome of an invocation.

use super::memory::Region;

/// End of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub enum InvocationEnd {
    /// The entry point returned.
    Returned,
    /// `OpKill` or `OpTerminateInvocation`.
    Killed,
    /// By the effect of an undefined value, if a run allows these.
    Undefined(String),
    /// `OpAbortKHR`.
    Aborted {
        /// Index of the abort in module order.
        site: u32,
        /// Its message; padding is zero.
        message: Region,
    },
}
