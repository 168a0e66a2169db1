//! Accesses to shared memory, which messages of races name by their number.

use serde::{Deserialize, Serialize};

/// What an access does to shared memory.
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
    /// What they do.
    pub kind: SharedAccessKind,
    /// File name from the debug information.
    pub file: String,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
}
