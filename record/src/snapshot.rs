//! An owned copy of an arena and bounded iteration over its records.

use crate::invocation::Invocation;
use crate::layout::{
    ABORTED, ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, DROPPED_OFFSET, HEADER_UNITS, UNIT_BYTES, UNIT_WORDS,
    commit_word, header, record_units,
};
use crate::site::{ModuleHash, SiteId};

/// A copy of an arena's bytes at one moment. Answers made from it never change afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    words: Vec<u32>,
}

/// One complete abort record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Unit offset in the record area.
    pub unit: u32,
    /// The module whose rewrite wrote it.
    pub module_hash: ModuleHash,
    /// Its site in that module.
    pub site: SiteId,
    /// SPIR-V execution model.
    pub execution_model: u32,
    /// The invocation that aborted.
    pub invocation: Invocation,
    /// The message, byte for byte as the message type lays it out.
    pub payload: Vec<u8>,
}

/// What an arena holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Complete records in the order of their aborts.
    pub records: Vec<Record>,
    /// Records that were reserved and never completed.
    pub unfinished: u32,
    /// Aborts known to have found no room. A lower bound: once the arena is full, aborts are not counted one by one.
    pub dropped: u32,
    /// The arena is full, so there may have been more aborts than `dropped` says.
    pub full: bool,
    /// The control block does not agree with the records: a lost device has taken it with it. How many aborts found no
    /// room is not known.
    pub control_lost: bool,
}

impl Snapshot {
    /// Takes the bytes of an arena, control block included. A length that is not a multiple of 4 loses its tail.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self {
            words: bytes
                .chunks_exact(4)
                .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
        }
    }

    /// Takes the words of an arena, control block included.
    pub fn from_words(words: Vec<u32>) -> Self {
        Self { words }
    }

    /// How many bytes of an arena are worth copying, given the CURSOR word read from it and its whole length: the
    /// control block and the records reserved so far.
    pub fn used_bytes(cursor: u32, arena_bytes: usize) -> usize {
        (CONTROL_BYTES as usize)
            .saturating_add((cursor as usize).saturating_mul(UNIT_BYTES as usize))
            .min(arena_bytes)
    }

    /// Whether any invocation has aborted.
    pub fn aborted(&self) -> bool {
        self.control(ABORTED_OFFSET) == ABORTED
    }

    /// Walks the records. `capacity` is the arena's, in units: the snapshot may be shorter, never longer.
    ///
    /// The walk is bounded by the snapshot's length whatever the words say, and not by CURSOR, since a lost device may have
    /// taken the control block with it. A record that was reserved but not completed is stepped over by its LENGTH; if
    /// even that was not written, by units up to the next complete record.
    pub fn records(&self, capacity: u32) -> Records {
        let cursor = self.control(CURSOR_OFFSET);
        let held = self.words.len().saturating_sub(CONTROL_BYTES as usize / 4) / UNIT_WORDS as usize;
        let end = u32::try_from(held).unwrap_or(u32::MAX).min(capacity);
        let mut found = Records::default();
        let (mut unit, mut known) = (0, 0);
        while unit < end {
            let length = self.word(unit, header::LENGTH);
            let fits = length >= HEADER_UNITS && length <= end - unit;
            match self.record(unit, end) {
                Some(record) => {
                    found.records.push(record);
                    unit += length;
                    known = unit;
                }
                None if fits => {
                    found.unfinished += 1;
                    unit += length;
                }
                None => {
                    // Reserved at the very end of a full arena (it did not fit), or interrupted before LENGTH, or not
                    // reserved at all.
                    let next = (unit + 1..end).find(|&u| self.record(u, end).is_some());
                    found.unfinished += u32::from(next.is_some() || (unit < cursor && cursor <= capacity));
                    unit = next.unwrap_or(end);
                }
            }
        }
        found.control_lost = cursor < known || cursor == u32::MAX || self.control(ABORTED_OFFSET) > ABORTED;
        if !found.control_lost {
            found.dropped = self.control(DROPPED_OFFSET);
            found.full = cursor >= capacity;
        }
        found
    }

    /// The record at `unit`, if a complete one stands there and ends at or before `end`.
    fn record(&self, unit: u32, end: u32) -> Option<Record> {
        let word = |index| self.word(unit, index);
        let (length, size) = (word(header::LENGTH), word(header::SIZE));
        let complete = word(header::COMMIT) == commit_word(unit)
            && length >= HEADER_UNITS
            && length <= end.checked_sub(unit)?
            && size <= (length - HEADER_UNITS) * UNIT_BYTES
            && record_units(size) == length;
        if !complete {
            return None;
        }
        let first = self.index(unit, header::WORDS);
        let words = self.words.get(first..first + (size as usize).div_ceil(4))?;
        let mut payload: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        payload.truncate(size as usize);
        let id = |i| word(header::IDENTITY + i);
        Some(Record {
            unit,
            module_hash: ModuleHash(u64::from(word(header::HASH_LO)) | u64::from(word(header::HASH_HI)) << 32),
            site: SiteId(word(header::SITE)),
            execution_model: word(header::STAGE),
            invocation: Invocation::from_words(word(header::STAGE), [id(0), id(1), id(2), id(3)]),
            payload,
        })
    }

    fn control(&self, byte_offset: u32) -> u32 {
        self.words.get(byte_offset as usize / 4).copied().unwrap_or(0)
    }

    fn index(&self, unit: u32, word: u32) -> usize {
        CONTROL_BYTES as usize / 4 + unit as usize * UNIT_WORDS as usize + word as usize
    }

    fn word(&self, unit: u32, word: u32) -> u32 {
        self.words.get(self.index(unit, word)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
