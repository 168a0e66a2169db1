//! Limits of deferred messages, which an invocation keeps until the end of its entry point.

/// Most values of a deferred message, in words.
pub const MAX_VALUES: usize = 8;
/// Longest array that is written element by element, without a loop.
pub const MAX_UNROLLED: u32 = 16;
