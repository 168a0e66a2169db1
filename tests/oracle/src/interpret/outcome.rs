//! Outcome of an invocation.

/// The message of an abort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Bytes; padding is zero.
    pub bytes: Vec<u8>,
    /// Undefined bits of each byte.
    pub undef: Vec<u8>,
}

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
        /// Its message.
        message: Message,
    },
}
