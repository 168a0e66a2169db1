//! Frames: ranges of a record that straight-line code writes.

use super::pending::PendingWords;
use std::ops::Range;
use vkabort_spirv::Id;

/// Start of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    /// At the record's payload.
    Payload,
    /// At a word of the record area, by its index.
    Words(Id),
    /// At a byte of the record area, by its index.
    Bytes(Id),
}

/// A range that straight-line code writes: the payload, or an array element in a loop.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) base: Base,
    /// Whether earlier parts of the message may have bytes in its words.
    overlaps: bool,
    /// Byte offset of the end of the parts put so far.
    end: u32,
    pub(super) pending: PendingWords,
    /// Words stored so far: later bytes of theirs must be merged.
    stored: Vec<Range<u32>>,
}

impl Frame {
    /// `overlaps`: earlier parts of the message may have bytes in its words.
    pub(super) fn new(base: Base, overlaps: bool) -> Self {
        Self {
            base,
            overlaps,
            end: 0,
            pending: PendingWords::default(),
            stored: Vec::new(),
        }
    }

    /// Whether a word is stored.
    pub(super) fn is_stored(&self, word: u32) -> bool {
        self.stored.iter().any(|range| range.contains(&word))
    }

    /// Whether a part at byte `offset` may overlap an earlier one.
    pub(super) fn may_overlap(&self, offset: u32) -> bool {
        self.overlaps || offset < self.end
    }

    /// Whether memory may hold bytes of an earlier part in a word.
    pub(super) fn may_hold_earlier_bytes(&self, word: u32) -> bool {
        self.overlaps || self.is_stored(word)
    }

    /// Notes that a part ends at byte `end`.
    pub(super) fn extend_to(&mut self, end: u32) {
        self.end = self.end.max(end);
    }

    /// Notes that a loop has stored the bytes from `start` to `end`.
    pub(super) fn mark_bytes_stored(&mut self, start: u32, end: u32) {
        self.extend_to(end);
        self.stored.push(start / 4..end.div_ceil(4));
    }

    /// Notes that words are stored.
    pub(super) fn mark_words_stored(&mut self, words: Range<u32>) {
        match self.stored.last_mut() {
            Some(last) if last.end == words.start => last.end = words.end,
            _ => self.stored.push(words),
        }
    }
}
