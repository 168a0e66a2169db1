//! Outcome of an invocation.

use super::memory::Region;

/// End of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub enum InvocationEnd {
    /// The entry point returned.
    Returned,
    /// `OpKill` or `OpTerminateInvocation`.
    Killed,
    /// `OpAbortKHR`.
    Aborted {
        /// Index of the abort in module order.
        site: u32,
        /// Its message; padding is zero.
        message: Region,
    },
}
