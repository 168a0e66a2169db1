//! Accesses to shared memory, which messages of races name by their number.

use serde::{Deserialize, Serialize};

/// The conversion of the number of an access, behind that of its invocation or subgroup.
pub const ACCESS: &str = " (access %u)";
/// The verb of an access of any kind.
pub const ACCESSED: &str = "is accessed by";
/// The conversion of the number of other readers that are known of, behind [`ACCESS`], and the verb of the store that races with them.
pub const OTHERS: &str = " and %u or more others, and stored by";

/// The kinds of accesses to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedAccessKind {
    /// It reads.
    Load,
    /// It writes.
    Store,
    /// It does both, as one operation.
    Atomic,
}

/// Accesses of one kind at one line, which races name by their number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SharedAccess {
    /// Their kind.
    pub kind: SharedAccessKind,
    /// File name from the debug information.
    pub file: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
}
