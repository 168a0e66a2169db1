//! Memory layout of the print area, for the GPU code that writes it and the host code that reads it.
//!
//! ```text
//! control words:
//! byte   0  CURRENT   index of the chunk that new prints go to: only the host stores it
//!       64  CURSOR    of each chunk, one every 64 bytes: next free unit of 16 bytes. Above the units of a chunk it means nothing
//!      320  DROPPED   counters of prints without room, one of each site; the last one is shared by sites that got none
//!
//! chunks: records of whole units
//!
//! record:  word  0  COMMIT    as in abort records (`crate::layout`)
//!                1  NUMBER    of the print on the device
//!              2-5  IDENTITY  as in abort records
//!             6...  payload: the SPIR-V execution model, if the module has entry points of several; then the words of the arguments,
//!                   each 64-bit component as two words and each narrower one as a word; zero padded to the end of the record
//! ```
//!
//! A print reads CURRENT and adds its units to the CURSOR of that chunk. If it ends inside the chunk it is written there, made
//! available and committed, else it is counted: the first prints are kept. The host makes another chunk the current one, and
//! empties the old one once all work that may have read the old CURRENT has completed: no word is ever updated by both, and a
//! GPU that sees CURRENT late does no harm.
//!
//! COMMIT counts units from the start of the first chunk. NUMBER stands for code and site, which say how long the record is: few words
//! are stored, and drivers for CPUs execute each store of a print that no invocation takes.

use crate::layout::{UNIT_BYTES, UNIT_WORDS};

/// Number of chunks.
pub const CHUNKS: u32 = 4;
/// Byte offset of CURRENT.
pub const CURRENT_OFFSET: u32 = 0;
/// Bytes from one CURSOR to the next, and from CURRENT to the first.
pub const CURSOR_STRIDE: u32 = 64;
/// Byte offset of DROPPED.
pub const DROPPED_OFFSET: u32 = CURSOR_STRIDE * (CHUNKS + 1);
/// Counters of DROPPED.
pub const COUNTERS: u32 = 1024;
/// The counter of the sites that got none.
pub const SHARED_COUNTER: u32 = COUNTERS - 1;
/// Bytes in front of the chunks.
pub const CONTROL_BYTES: u32 = DROPPED_OFFSET + 4 * COUNTERS;

/// Word offsets in a record.
pub mod header {
    /// Zero until the record is complete, then [`crate::layout::commit_word`].
    pub const COMMIT: u32 = 0;
    /// The number of the print.
    pub const NUMBER: u32 = 1;
    /// First of four words that identify the invocation.
    pub const IDENTITY: u32 = 2;
    /// Words of the header: the payload's first word.
    pub const WORDS: u32 = 6;
}

/// Words of a payload in the unit where the header ends.
pub const HEAD_WORDS: u32 = 2 * UNIT_WORDS - header::WORDS;

const _: () = assert!(CHUNKS.is_power_of_two() && CONTROL_BYTES.is_multiple_of(CURSOR_STRIDE));

/// Byte offset of the CURSOR of a chunk.
pub const fn cursor_offset(chunk: u32) -> u32 {
    CURSOR_STRIDE * (chunk + 1)
}

/// Units of a chunk in an area of `bytes` bytes.
pub const fn chunk_units(bytes: u32) -> u32 {
    bytes.saturating_sub(CONTROL_BYTES) / (CHUNKS * UNIT_BYTES)
}

/// Units of a record with a payload of `words` words.
pub const fn record_units(words: u32) -> u32 {
    (header::WORDS + words).div_ceil(UNIT_WORDS)
}
