//! Memory layout of the print area, for the GPU code that writes it and the host code that reads it.
//!
//! ```text
//! control words:
//! byte   0  CURRENT   index of the chunk that new prints go to: only the host stores it
//!       64  CURSOR    of each chunk, one every 64 bytes: next free slot of 64 bytes. Above the slots of a chunk it means nothing
//!      320  DROPPED   counters of prints without room, one of each site; the last one is shared by sites that got none
//!
//! chunks: records of whole 16-byte units, each at the start of a slot, with the header of abort records (`crate::layout`)
//! ```
//!
//! A print reads CURRENT and adds its slots to the CURSOR of that chunk. If it ends inside the chunk it is written there, made
//! available and committed, else it is counted: the first prints are kept. The host makes another chunk the current one, and
//! empties the old one once all work that may have read the old CURRENT has completed: no word is ever updated by both, and a
//! GPU that sees CURRENT late does no harm.
//!
//! COMMIT and the unit in it count units from the start of the first chunk. The payload are the words of the arguments, each
//! 64-bit component as two words and each narrower one as a word.

use crate::layout::{SLOT_BYTES, SLOT_UNITS};

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

const _: () = assert!(CHUNKS.is_power_of_two() && CONTROL_BYTES.is_multiple_of(SLOT_BYTES));

/// Byte offset of the CURSOR of a chunk.
pub const fn cursor_offset(chunk: u32) -> u32 {
    CURSOR_STRIDE * (chunk + 1)
}

/// Slots of a chunk in an area of `bytes` bytes.
pub const fn chunk_slots(bytes: u32) -> u32 {
    bytes.saturating_sub(CONTROL_BYTES) / (CHUNKS * SLOT_BYTES)
}

/// Units of a chunk in an area of `bytes` bytes.
pub const fn chunk_units(bytes: u32) -> u32 {
    chunk_slots(bytes) * SLOT_UNITS
}
