//! Memory layout of the arena, for the GPU code that writes it and the host code that reads it.
//!
//! There is one arena per device: a control block, followed by a record area. On a discrete GPU a second control block in
//! the GPU's own memory takes the atomics, and TICKS, since a GPU may keep host memory that it has read in its caches; the host then
//! watches the first record in place of CURSOR. The host copies the control block in use in front of the records, so that every
//! snapshot and dump has this layout. All words are 32 bits, little-endian.
//!
//! ```text
//! control block:
//! byte   0  CURSOR    next free slot, in slots of 64 bytes from the start of the record area
//!        4  ABORTED   1: an invocation has aborted that CURSOR does not count, or not yet
//!        8  TICKS     advanced by the host while work with checks of loops is pending
//!       12  ENDED     invocations that polled, and were ended since another had aborted
//!       16  (unused up to 64)
//!       64  DROPPED   16 counters, one every 64 bytes, of which each abort uses one. Their sum modulo 2^32 corrects CURSOR:
//!                     aborts without a record that CURSOR does not count, minus slots that CURSOR counts without an abort
//!
//! record area: records of whole 16-byte units, each at the start of a slot
//!
//! record:  word  0  COMMIT    0 until the record is complete, then COMMIT_MAGIC + its unit offset
//!                1  LENGTH    units of this record, header included; written first
//!                2  SIZE      bytes of payload, the message: the end of its type's last byte
//!                3  SITE      index into the site table of the code
//!                4  HASH_LO   code hash, low half
//!                5  HASH_HI   code hash, high half
//!                6  STAGE     SPIR-V execution model of the entry point
//!                7  SPECIALIZATION  key of the pipeline's specialisation, 0 without one
//!             8-11  IDENTITY  the invocation, by stage (see below)
//!            12...  payload, then the values at the abort that the site describes, zero padded to the end of the record
//!
//! A record whose word 1 has bit 31 set is a compact one: see [`crate::compact`].
//!
//! IDENTITY, unused words 0:
//!   compute, task, mesh    GlobalInvocationId x, y, z; LocalInvocationIndex
//!   vertex                 VertexIndex; InstanceIndex
//!   fragment               FragCoord x, y, truncated to whole pixels
//!   tessellation, geometry PrimitiveId; InvocationId (0 in tessellation evaluation)
//!   ray tracing            LaunchIdKHR x, y, z
//! ```
//!
//! An invocation that aborts adds its record's slots to CURSOR, writes LENGTH, the header and the payload, makes them
//! available at device scope, writes COMMIT, and terminates. So some invocation has aborted if CURSOR or ABORTED is not 0. An
//! abort before a loop that may wait for it sets ABORTED at once. The capacity exceeds the largest record, so the first one
//! always fits. Before the addition an invocation loads CURSOR, and adds only 1 to DROPPED if that is past the capacity. Those
//! that pass it themselves are counted there, and correct DROPPED if their record has several slots.
//!
//! The decisions and their reasons: `docs/design/records.md`.

/// Bytes in a unit: the granularity of LENGTH.
pub const UNIT_BYTES: u32 = 16;
/// Units in a slot: the granularity of CURSOR, and the alignment of every record. A compact record is rarely longer, so that an
/// addition of 1 reserves it.
pub const SLOT_UNITS: u32 = 4;
/// Bytes in a slot.
pub const SLOT_BYTES: u32 = SLOT_UNITS * UNIT_BYTES;
/// 32-bit words in a unit.
pub const UNIT_WORDS: u32 = UNIT_BYTES / 4;

/// Bytes of the control block.
pub const CONTROL_BYTES: u32 = DROPPED_OFFSET + DROPPED_COUNTERS * DROPPED_STRIDE;
/// Byte offset of CURSOR in the control block.
pub const CURSOR_OFFSET: u32 = 0;
/// Byte offset of ABORTED in the control block: beside CURSOR, since the host and waiting loops read both.
pub const ABORTED_OFFSET: u32 = 4;
/// Value of ABORTED after such an abort. Memory that was lost with the device reads as zeros or ones, which
/// means nothing.
pub const ABORTED: u32 = 1;
/// Byte offset of TICKS in the control block.
pub const TICKS_OFFSET: u32 = 8;
/// Ticks that the loops of an invocation may see. The host advances TICKS by 1 in this part of the time that loops may run.
pub const TIMEOUT_TICKS: u32 = 16;
/// Byte offset of ENDED in the control block.
pub const ENDED_OFFSET: u32 = 12;
/// Byte offset of DROPPED in the control block.
pub const DROPPED_OFFSET: u32 = 64;
/// Counters of DROPPED.
pub const DROPPED_COUNTERS: u32 = 16;
/// Bytes from one counter to the next: a cache line, so that cores do not wait for each other.
pub const DROPPED_STRIDE: u32 = 64;
/// The bits of a word that are the byte offset of a counter.
pub const DROPPED_MASK: u32 = (DROPPED_COUNTERS - 1) * DROPPED_STRIDE;

/// Word offsets in a record's header.
pub mod header {
    /// Zero until the record is complete, then [`super::commit_word`].
    pub const COMMIT: u32 = 0;
    /// Units of the record, header included.
    pub const LENGTH: u32 = 1;
    /// Bytes of payload.
    pub const SIZE: u32 = 2;
    /// Site index.
    pub const SITE: u32 = 3;
    /// Low half of the code hash.
    pub const HASH_LO: u32 = 4;
    /// High half of the code hash.
    pub const HASH_HI: u32 = 5;
    /// SPIR-V execution model.
    pub const STAGE: u32 = 6;
    /// Key of the specialisation constants' values: see [`crate::specialization`].
    pub const SPECIALIZATION: u32 = 7;
    /// First of four words that identify the invocation.
    pub const IDENTITY: u32 = 8;
    /// Words of the header: the payload's first word.
    pub const WORDS: u32 = 12;
}

/// Bytes of a record's header.
pub const HEADER_BYTES: u32 = header::WORDS * 4;
/// Units of a record's header.
pub const HEADER_UNITS: u32 = HEADER_BYTES / UNIT_BYTES;

const _: () = {
    assert!(HEADER_BYTES.is_multiple_of(UNIT_BYTES), "a payload starts on a unit");
    assert!(
        CONTROL_BYTES.is_multiple_of(SLOT_BYTES),
        "the first record starts on a slot"
    );
    assert!(CURSOR_OFFSET < ABORTED_OFFSET && ABORTED_OFFSET < TICKS_OFFSET && TICKS_OFFSET < ENDED_OFFSET);
    assert!(ENDED_OFFSET < DROPPED_OFFSET);
    assert!(DROPPED_COUNTERS.is_power_of_two() && DROPPED_STRIDE.is_power_of_two());
    assert!(header::IDENTITY + 4 == header::WORDS);
};

/// COMMIT holds this plus the record's unit offset, so that payload bytes rarely look like a record.
pub const COMMIT_MAGIC: u32 = 0xAB0F_7EED;

/// The COMMIT word of a complete record that starts `unit` units into the record area. Not zero for any unit offset below
/// 2^30.
pub const fn commit_word(unit: u32) -> u32 {
    COMMIT_MAGIC.wrapping_add(unit)
}

/// Units of a record with `size` bytes of payload and of values.
pub const fn record_units(size: u32) -> u32 {
    HEADER_UNITS + size.div_ceil(UNIT_BYTES)
}

/// Most units of values behind a payload.
pub const MAX_VALUE_UNITS: u32 = 15;

/// The default limit of a message, in bytes: the minimum of `maxShaderAbortMessageSize` that `VK_KHR_shader_abort`
/// requires.
pub const DEFAULT_MAX_MESSAGE_BYTES: u32 = 65536;

/// Units of the smallest arena in which the first record always fits.
pub const fn minimum_capacity(max_message_bytes: u32) -> u32 {
    record_units(max_message_bytes).next_multiple_of(SLOT_UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_whole_units() {
        assert_eq!(record_units(0), 3);
        assert_eq!(record_units(1), 4);
        assert_eq!(record_units(16), 4);
        assert_eq!(record_units(17), 5);
        assert_eq!(record_units(65536), 3 + 4096);
    }

    #[test]
    fn commit_words_differ_by_unit_and_are_not_zero() {
        assert_ne!(commit_word(0), commit_word(1));
        assert_ne!(commit_word(0), 0);
        assert_ne!(commit_word((1 << 30) - 1), 0);
    }
}
