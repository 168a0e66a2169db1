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
