//! Layout of the table of buffers, with which shaders test addresses (the check `addresses`).
//!
//! An area holds versions of the table. The host writes a version, then makes it the current one, and never changes it again but for
//! its tail. All words are 32 bits, little-endian; an address has two, the low one first.
//!
//! ```text
//! area:     word 0  CURRENT   byte offset of the current version from the start of the area, a multiple of 16; 0: none, and every
//!                             address passes
//! version:  unit 0  COUNT, TAIL, 0, 0
//!           COUNT units of START and END: the ranges of addresses in buffers, ascending. Those that overlap are one
//!           TAIL units of the same form, in any order: buffers that were created while work was pending
//! ```

use crate::layout::UNIT_BYTES;

/// Byte offset of the first version in an area.
pub const FIRST_VERSION: u32 = 64;
/// Most units in a tail.
pub const MAX_TAIL: u32 = 32;
/// Byte offset of TAIL in a version.
pub const TAIL_OFFSET: u32 = 4;

/// Bytes of a version with `count` ranges, and room for a tail.
pub const fn version_bytes(count: u32) -> u64 {
    (1 + count as u64 + MAX_TAIL as u64) * UNIT_BYTES as u64
}

/// The text by which the message of a failed check of an address is known. Its last three words are the bytes of the access, and the high
/// and the low word of its address.
pub const OUTSIDE: &str = " is outside of its buffer";

/// Bytes around a buffer in which a pointer still belongs to it.
pub const NEAR: u32 = 1 << 20;

/// The address and the bytes of an access from such a message.
pub fn address_in(text: &str, message: &[u8]) -> Option<(u64, u64)> {
    let (_, words) = message.as_rchunks::<4>();
    match words {
        [.., bytes, high, low] if text.contains(OUTSIDE) => {
            let [bytes, high, low] = [bytes, high, low].map(|word| u64::from(u32::from_le_bytes(*word)));
            Some((high << 32 | low, bytes))
        }
        _ => None,
    }
}

/// A range of addresses: the first, and the one behind the last.
pub type Range = (u64, u64);

/// Sorts ranges, and makes one of those that overlap: memory of aliased buffers.
pub fn merged(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable();
    ranges.dedup_by(|(start, end), (_, last)| {
        let overlaps = *start < *last;
        if overlaps {
            *last = (*last).max(*end);
        }
        overlaps
    });
    ranges
}

/// The unit of a range.
pub const fn unit((start, end): Range) -> [u32; 4] {
    [start as u32, (start >> 32) as u32, end as u32, (end >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_are_merged() {
        let ranges = vec![
            (64, 128),
            (0, 16),
            (64, 256),
            (100, 200),
            (0, 8),
            (200, 300),
            (300, 310),
        ];
        assert_eq!(merged(ranges), [(0, 16), (64, 300), (300, 310)]);
    }

    #[test]
    fn a_message_ends_with_the_bytes_and_the_address() {
        let words: [u32; 4] = [0x2064_6c61, 16, 0x7f00, 0x1000];
        let message: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text = "a load of 16 bytes at address 0x00007f0000001000 is outside of its buffer: `p`";
        assert_eq!(address_in(text, &message), Some((0x7f00_0000_1000, 16)));
        assert_eq!(address_in("a load", &message), None);
        assert_eq!(address_in(text, &[0; 8]), None);
    }
}
