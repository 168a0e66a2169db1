//! Words of a payload that are assembled but not yet stored.
//!
//! Parts arrive by byte offset. A word may be assembled from several, and where parts overlap, the later one wins: glslang
//! before 16.6 lets a member overlap the one before it.

use smallvec::SmallVec;
use std::collections::BTreeMap;
use vkabort_spirv::Id;

/// The value of up to four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    Constant(u32),
    /// A `uint` whose unused high bytes are zero.
    Value(Id),
}

impl Bits {
    /// The value, unless it is constant.
    pub(crate) fn value(self) -> Option<Id> {
        match self {
            Self::Constant(_) => None,
            Self::Value(id) => Some(id),
        }
    }
}

/// The bytes of a word that come from one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) value: Id,
    /// How far the value is shifted to the left, in bits; to the right if negative.
    pub(crate) shift: i32,
    /// Bytes of the word, one bit each.
    pub(crate) bytes: u8,
    /// Whether the value must be masked, because a later part took some of its bytes.
    pub(crate) needs_mask: bool,
}

/// A word being assembled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its constant bytes; the others are 0.
    pub(crate) constant: u32,
    /// Bytes assembled so far, one bit each.
    pub(crate) bytes: u8,
    pub(crate) fragments: SmallVec<[Fragment; 2]>,
}

/// Words by their index in the frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingWords {
    /// Words that arrived in ascending order: almost all of them.
    ordered: Vec<(u32, Word)>,
    /// Words that arrived later, with an index below the last one of `ordered`.
    late: BTreeMap<u32, Word>,
}

impl PendingWords {
    /// Puts `count` bytes (1 to 4) at byte `offset` of the frame.
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
        word.constant &= !byte_mask(bytes);
        for fragment in &mut word.fragments {
            fragment.needs_mask |= fragment.bytes & bytes != 0;
            fragment.bytes &= !bytes;
        }
        word.fragments.retain(|fragment| fragment.bytes != 0);
        word.bytes |= bytes;
        match bits {
            Bits::Constant(value) => {
                let moved = if shift < 0 { value >> -shift } else { value << shift };
                word.constant |= moved & byte_mask(bytes);
            }
            Bits::Value(value) => word.fragments.push(Fragment {
                value,
                shift,
                bytes,
                needs_mask: false,
            }),
        }
    }

    fn word(&mut self, index: u32) -> &mut Word {
        if self.ordered.last().is_none_or(|(last, _)| *last < index) {
            self.ordered.push((index, Word::default()));
        }
        // Almost always the last one.
        let found = match self.ordered.last() {
            Some((last, _)) if *last == index => Ok(self.ordered.len() - 1),
            _ => self.ordered.binary_search_by_key(&index, |(i, _)| *i),
        };
        match found.ok().and_then(|at| self.ordered.get_mut(at)) {
            Some((_, word)) => word,
            None => self.late.entry(index).or_default(),
        }
    }

    /// Removes and returns all words, by index.
    pub(crate) fn take(&mut self) -> Vec<(u32, Word)> {
        let mut words = std::mem::take(&mut self.ordered);
        if !self.late.is_empty() {
            words.extend(std::mem::take(&mut self.late));
            words.sort_by_key(|(index, _)| *index);
        }
        words
    }
}

/// A mask of the bits in a set of bytes, one bit each.
pub(crate) fn byte_mask(bytes: u8) -> u32 {
    (0..4)
        .filter(|i| bytes >> i & 1 != 0)
        .fold(0, |mask, i| mask | 0xFF << (8 * i))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(value: u32, shift: i32, bytes: u8, needs_mask: bool) -> Fragment {
        Fragment {
            value: Id::new(value),
            shift,
            bytes,
            needs_mask,
        }
    }

    #[test]
    fn constant_bytes_fold_into_words_at_any_offset() {
        let mut pending = PendingWords::default();
        for (i, byte) in b"test".iter().enumerate() {
            pending.put(3 + i as u32, 1, Bits::Constant((*byte).into()));
        }
        let words = pending.take();
        let first = Word {
            constant: u32::from(b't') << 24,
            bytes: 0b1000,
            ..Word::default()
        };
        assert_eq!(words[0], (0, first));
        assert_eq!(words[1].1.constant.to_le_bytes(), *b"est\0");
        assert_eq!((words[1].0, words[1].1.bytes), (1, 0b0111));
    }

    #[test]
    fn a_value_at_an_odd_offset_is_split_between_two_words() {
        let mut pending = PendingWords::default();
        pending.put(6, 4, Bits::Value(Id::new(9)));
        let words = pending.take();
        assert_eq!(words[0].1.fragments.as_slice(), [fragment(9, 16, 0b1100, false)]);
        assert_eq!(words[1].1.fragments.as_slice(), [fragment(9, -16, 0b0011, false)]);
    }

    #[test]
    fn the_later_of_two_overlapping_parts_wins() {
        let mut pending = PendingWords::default();
        pending.put(0, 4, Bits::Value(Id::new(9)));
        pending.put(2, 2, Bits::Constant(0xBEEF));
        pending.put(0, 1, Bits::Value(Id::new(7)));
        let (_, word) = &pending.take()[0];
        assert_eq!(word.constant, 0xBEEF_0000);
        let fragments = [fragment(9, 0, 0b0010, true), fragment(7, 0, 0b0001, false)];
        assert_eq!(word.fragments.as_slice(), fragments);
        assert_eq!(word.bytes, 0b1111);
    }

    #[test]
    fn words_out_of_order_are_sorted() {
        let mut pending = PendingWords::default();
        for index in [2, 5, 3, 9, 0, 5, 3] {
            pending.put(4 * index, 4, Bits::Constant(index));
        }
        let words = pending.take();
        let constants: Vec<_> = words.iter().map(|(index, word)| (*index, word.constant)).collect();
        assert_eq!(constants, [(0, 0), (2, 2), (3, 3), (5, 5), (9, 9)]);
        assert!(pending.take().is_empty());
    }
}
