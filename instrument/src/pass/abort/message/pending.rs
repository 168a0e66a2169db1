//! Words of a payload that are known but not yet written.
//!
//! Parts arrive by byte offset; a word may be put together from several, and a later part wins where parts overlap
//! (glslang before 16.6 lays members out over each other).

use crate::spv::Id;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Up to four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    /// Known when the module is rewritten.
    Known(u32),
    /// A 32-bit unsigned value whose unused high bytes are zero.
    Value(Id),
}

/// A value's share of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) value: Id,
    /// Bits to the left; to the right if negative.
    pub(crate) shift: i32,
    /// Bytes of the word that are still the value's, a bit each.
    pub(crate) bytes: u8,
    /// The value must be masked: a later part took some of its bytes.
    pub(crate) masked: bool,
}

/// A word being put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) known: u32,
    /// Bytes that have been given, a bit each.
    pub(crate) bytes: u8,
    pub(crate) shares: SmallVec<[Share; 2]>,
}

/// Words with their indices from the start of the frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    /// Parts come in order but for a few: these words came in ascending order.
    ordered: Vec<(u32, Word)>,
    /// These came later, and stand before the last one of those.
    between: BTreeMap<u32, Word>,
}

impl Pending {
    /// Puts `count` bytes (1 to 4) at byte `offset`.
    pub(crate) fn put(&mut self, offset: u32, count: u32, bits: Bits) {
        let at = offset % 4;
        let covered = ((1u32 << count) - 1) << at;
        self.put_word(offset / 4, (covered & 0xF) as u8, 8 * at as i32, bits);
        if covered > 0xF {
            self.put_word(offset / 4 + 1, (covered >> 4) as u8, 8 * at as i32 - 32, bits);
        }
    }

    fn put_word(&mut self, index: u32, bytes: u8, shift: i32, bits: Bits) {
        let word = self.word(index);
        word.known &= !byte_mask(bytes);
        for share in &mut word.shares {
            share.masked |= share.bytes & bytes != 0;
            share.bytes &= !bytes;
        }
        word.shares.retain(|share| share.bytes != 0);
        word.bytes |= bytes;
        match bits {
            Bits::Known(value) => {
                let moved = if shift < 0 { value >> -shift } else { value << shift };
                word.known |= moved & byte_mask(bytes);
            }
            Bits::Value(value) => word.shares.push(Share {
                value,
                shift,
                bytes,
                masked: false,
            }),
        }
    }

    fn word(&mut self, index: u32) -> &mut Word {
        if self.ordered.last().is_none_or(|(last, _)| *last < index) {
            self.ordered.push((index, Word::default()));
        }
        // Mostly it is the last one.
        let found = match self.ordered.last() {
            Some((last, _)) if *last == index => Ok(self.ordered.len() - 1),
            _ => self.ordered.binary_search_by_key(&index, |(i, _)| *i),
        };
        match found.ok().and_then(|at| self.ordered.get_mut(at)) {
            Some((_, word)) => word,
            None => self.between.entry(index).or_default(),
        }
    }

    /// All words, by index; none is pending afterwards.
    pub(crate) fn take(&mut self) -> Vec<(u32, Word)> {
        let mut words = std::mem::take(&mut self.ordered);
        if !self.between.is_empty() {
            words.extend(std::mem::take(&mut self.between));
            words.sort_by_key(|(index, _)| *index);
        }
        words
    }
}

/// The bits of the bytes in a set.
pub(crate) fn byte_mask(bytes: u8) -> u32 {
    (0..4)
        .filter(|i| bytes >> i & 1 != 0)
        .fold(0, |mask, i| mask | 0xFF << (8 * i))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_bytes_fold_into_words_wherever_they_stand() {
        let mut pending = Pending::default();
        for (i, byte) in b"test".iter().enumerate() {
            pending.put(3 + i as u32, 1, Bits::Known((*byte).into()));
        }
        let words = pending.take();
        assert_eq!(
            words[0],
            (
                0,
                Word {
                    known: u32::from(b't') << 24,
                    bytes: 0b1000,
                    ..Word::default()
                }
            )
        );
        assert_eq!(words[1].1.known.to_le_bytes(), *b"est\0");
        assert_eq!((words[1].0, words[1].1.bytes), (1, 0b0111));
    }

    #[test]
    fn a_value_at_an_odd_offset_is_shared_by_two_words() {
        let mut pending = Pending::default();
        pending.put(6, 4, Bits::Value(9));
        let words = pending.take();
        assert_eq!(
            words[0].1.shares.as_slice(),
            [Share {
                value: 9,
                shift: 16,
                bytes: 0b1100,
                masked: false
            }]
        );
        assert_eq!(
            words[1].1.shares.as_slice(),
            [Share {
                value: 9,
                shift: -16,
                bytes: 0b0011,
                masked: false
            }]
        );
    }

    #[test]
    fn the_later_of_two_overlapping_parts_wins() {
        let mut pending = Pending::default();
        pending.put(0, 4, Bits::Value(9));
        pending.put(2, 2, Bits::Known(0xBEEF));
        pending.put(0, 1, Bits::Value(7));
        let (_, word) = &pending.take()[0];
        assert_eq!(word.known, 0xBEEF_0000);
        assert_eq!(
            word.shares.as_slice(),
            [
                Share {
                    value: 9,
                    shift: 0,
                    bytes: 0b0010,
                    masked: true
                },
                Share {
                    value: 7,
                    shift: 0,
                    bytes: 0b0001,
                    masked: false
                }
            ]
        );
        assert_eq!(word.bytes, 0b1111);
    }

    #[test]
    fn words_that_come_out_of_order_are_put_in_order() {
        let mut pending = Pending::default();
        for index in [2, 5, 3, 9, 0, 5, 3] {
            pending.put(4 * index, 4, Bits::Known(index));
        }
        let words = pending.take();
        let known: Vec<_> = words.iter().map(|(index, word)| (*index, word.known)).collect();
        assert_eq!(known, [(0, 0), (2, 2), (3, 3), (5, 5), (9, 9)]);
        assert!(pending.take().is_empty());
    }
}
