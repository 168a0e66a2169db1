//! Layout of the table of buffers, with which shaders test addresses (the check `addresses`).
//!
//! An area holds versions of the table. The host writes a version, then makes it the current one, and never changes it again but for
//! its tail. All words are 32 bits, little-endian; an address has two, the low one first.
//!
//! ```text
//! area:     word 0  CURRENT   byte offset of the current version from the start of the area, a multiple of 16; 0: none, and every
//!                             address passes
//! version:  unit 0  COUNT, TAIL, 0, 0
//!           COUNT units of START and END: the ranges of addresses in buffers, ascending in both. What lies in another buffer is
//!                             left out
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

/// What the message of a failed check says of an address outside of every buffer. The last three words of the message are the bytes
/// of the access, and the high and the low word of its address.
pub const OUTSIDE: &str = " is outside of every buffer";

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

/// Sorts ranges, and leaves out those that lie in others: an address is then in some range if it is in the last one that does not
/// begin behind it.
pub fn sorted(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
    let mut last = 0;
    ranges.retain(|(_, end)| {
        let is_kept = *end > last;
        last = last.max(*end);
        is_kept
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
    fn ranges_within_others_are_left_out() {
        let ranges = vec![(64, 128), (0, 16), (64, 256), (100, 200), (0, 8), (200, 300), (300, 310)];
        assert_eq!(sorted(ranges), [(0, 16), (64, 256), (200, 300), (300, 310)]);
    }

    #[test]
    fn a_message_ends_with_the_bytes_and_the_address() {
        let words: [u32; 4] = [0x2064_6c61, 16, 0x7f00, 0x1000];
        let message: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text = "a load of 16 bytes at address 0x00007f0000001000 is outside of every buffer: `p`";
        assert_eq!(address_in(text, &message), Some((0x7f00_0000_1000, 16)));
        assert_eq!(address_in("a load", &message), None);
        assert_eq!(address_in(text, &[0; 8]), None);
    }

    #[test]
    fn the_last_range_that_does_not_begin_behind_an_address_decides() {
        let all: Vec<Range> = vec![(10, 20), (10, 15), (12, 30), (40, 41), (18, 19), (29, 35)];
        let kept = sorted(all.clone());
        for address in 0..50 {
            for end in address + 1..50 {
                let is_inside = |(start, last): &Range| *start <= address && end <= *last;
                let found = kept.iter().rfind(|(start, _)| *start <= address).is_some_and(is_inside);
                assert_eq!(found, all.iter().any(is_inside), "{address}..{end}");
            }
        }
    }
}
