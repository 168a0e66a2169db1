//! Memory layout of the print area, for the GPU code that writes it and the host code that reads it.
//!
//! ```text
//! control words:
//! byte   0  CURRENT   number of the chunk that new prints go to: only the host stores it
//!       64  DROPPED   counters of prints without room, one of each site; the last one is shared by sites that got none
//!
//! chunk:   slot  0    CURSOR: the next free slot of 32 bytes, at first 1. Above the slots of the chunk it means nothing
//!               1...  records of whole slots
//!
//! record:  word  0    COMMIT    0 until the record is complete
//!                1    NUMBER    of the print on the device
//!               2...  IDENTITY  as in abort records (`crate::layout`), without words that follow: see `PrintIdentity`
//!              ...    payload: the SPIR-V execution model, if the module has entry points of several; then the words of the arguments,
//!                     each 64-bit component as two words and each narrower one as a word
//! ```
//!
//! A print reads CURRENT and adds its slots to the CURSOR of that chunk. If it ends inside the chunk it is written there, made
//! available and committed, else it is counted: the first prints are kept. The host makes another chunk the current one, and
//! empties the old one once all work that may have read the old CURRENT has completed: no word is ever updated by both, and a
//! GPU that sees CURRENT late does no harm.
//!
//! CURSOR is in the chunk, so that one address serves it and the records. Most records take one slot: the same addition of 1 reserves
//! a slot or counts a print.
//!
//! NUMBER stands for code and site, which say how long the record is: few words are stored, and drivers for CPUs execute each store of
//! a print that no invocation takes. The host stores zeros in a chunk before it is used again, so shaders store no padding.
//!
//! The decisions and their reasons: `docs/design/prints.md`.

use crate::layout::{COMMIT_MAGIC, UNIT_BYTES};

/// Number of chunks.
pub const CHUNKS: u32 = 4;
/// Byte offset of CURRENT.
pub const CURRENT_OFFSET: u32 = 0;
/// Byte offset of DROPPED: not in the cache line of CURRENT.
pub const DROPPED_OFFSET: u32 = 64;
/// Counters of DROPPED.
pub const COUNTERS: u32 = 1024;
/// The counter of the sites that got none.
pub const SHARED_COUNTER: u32 = COUNTERS - 1;
/// Bytes in front of the chunks.
pub const CONTROL_BYTES: u32 = DROPPED_OFFSET + 4 * COUNTERS;
/// Bytes in a slot: the granularity of CURSOR.
pub const SLOT_BYTES: u32 = 2 * UNIT_BYTES;
/// Words in a slot.
pub const SLOT_WORDS: u32 = SLOT_BYTES / 4;
/// CURSOR of an empty chunk.
pub const FIRST_SLOT: u32 = 1;

/// Word offsets in a record.
pub mod header {
    /// Zero until the record is complete, then [`super::commit_word`].
    pub const COMMIT: u32 = 0;
    /// The number of the print.
    pub const NUMBER: u32 = 1;
    /// First of the words that identify the invocation.
    pub const IDENTITY: u32 = 2;
}

const _: () = assert!(CHUNKS.is_power_of_two() && CONTROL_BYTES.is_multiple_of(SLOT_BYTES));

/// Slots of a chunk in an area of `bytes` bytes.
pub const fn chunk_slots(bytes: u32) -> u32 {
    bytes.saturating_sub(CONTROL_BYTES) / (CHUNKS * SLOT_BYTES)
}

/// Slots of a record with so many words of IDENTITY and payload.
pub const fn record_slots(words: u32) -> u32 {
    (header::IDENTITY + words).div_ceil(SLOT_WORDS)
}

/// COMMIT of the complete record at slot `slot` from the start of the first chunk. It is never 0: an odd number and a multiple of
/// [`SLOT_BYTES`].
pub const fn commit_word(slot: u32) -> u32 {
    COMMIT_MAGIC.wrapping_add(slot.wrapping_mul(SLOT_BYTES))
}
