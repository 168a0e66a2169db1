//! An owned copy of an arena and bounded iteration over its records.

use crate::layout::{
    ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, DROPPED_OFFSET, HEADER_BYTES, HEADER_UNITS, Identity, UNIT_BYTES,
    UNIT_WORDS, commit_word, header, record_units,
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
    /// Which invocation.
    pub identity: Identity,
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
        self.control(ABORTED_OFFSET) != 0
    }

    /// Walks the records. `capacity` is the arena's, in units: the snapshot may be shorter, never longer.
    ///
    /// The walk is bounded by the snapshot's length whatever the words say. A record that was reserved but not
    /// completed is stepped over by its LENGTH; if even that was not written, by units up to the next complete record.
    pub fn records(&self, capacity: u32) -> Records {
        let cursor = self.control(CURSOR_OFFSET);
        let held = (self.words.len().saturating_sub(CONTROL_BYTES as usize / 4) / UNIT_WORDS as usize) as u64;
        let end = u64::from(cursor.min(capacity)).min(held) as u32;
        let mut found = Records {
            dropped: self.control(DROPPED_OFFSET),
            full: cursor >= capacity,
            ..Records::default()
        };
        let mut unit = 0;
        while unit < end {
            let length = self.word(unit, header::LENGTH);
            let fits = length >= HEADER_UNITS && length <= end - unit;
            match self.record(unit, end) {
                Some(record) => {
                    found.records.push(record);
                    unit += length;
                }
                None if fits => {
                    found.unfinished += 1;
                    unit += length;
                }
                None => {
                    // Reserved at the very end of a full arena (it did not fit), or interrupted before LENGTH.
                    let next = (unit + 1..end).find(|&u| self.record(u, end).is_some());
                    found.unfinished += u32::from(next.is_some() || cursor <= capacity);
                    unit = next.unwrap_or(end);
                }
            }
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
            identity: Identity::from_words(word(header::STAGE), [id(0), id(1), id(2), id(3)]),
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

/// Messages as `VkDeviceFaultShaderAbortMessageInfoKHR` wants them: for each a 64-bit size in host byte order and the
/// payload, every size at a multiple of 8 bytes. The last payload is not padded.
pub fn message_data<'a>(payloads: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut data = Vec::new();
    for payload in payloads {
        data.resize(data.len().next_multiple_of(8), 0);
        data.extend_from_slice(&(payload.len() as u64).to_ne_bytes());
        data.extend_from_slice(payload);
    }
    data
}

const _: () = assert!(HEADER_BYTES as usize == header::WORDS as usize * 4);

#[cfg(test)]
mod tests {
    use super::*;

    /// An arena of `capacity` units and a way to put records into it as the GPU would.
    struct Arena {
        words: Vec<u32>,
        capacity: u32,
    }

    impl Arena {
        fn new(capacity: u32) -> Self {
            Self {
                words: vec![0; (CONTROL_BYTES / 4 + capacity * UNIT_WORDS) as usize],
                capacity,
            }
        }

        fn reserve(&mut self, size: u32) -> Option<u32> {
            let unit = self.words[0];
            if unit >= self.capacity {
                return None;
            }
            self.words[0] += record_units(size);
            if self.words[0] > self.capacity {
                self.words[(DROPPED_OFFSET / 4) as usize] += 1;
                return None;
            }
            Some(unit)
        }

        fn at(&mut self, unit: u32, word: u32) -> &mut u32 {
            &mut self.words[(CONTROL_BYTES / 4 + unit * UNIT_WORDS + word) as usize]
        }

        fn push(&mut self, site: u32, payload: &[u8]) -> Option<u32> {
            let unit = self.reserve(payload.len() as u32)?;
            *self.at(unit, header::LENGTH) = record_units(payload.len() as u32);
            *self.at(unit, header::SIZE) = payload.len() as u32;
            *self.at(unit, header::SITE) = site;
            *self.at(unit, header::STAGE) = 5;
            for (i, byte) in payload.iter().enumerate() {
                *self.at(unit, header::WORDS + i as u32 / 4) |= u32::from(*byte) << (8 * (i % 4));
            }
            *self.at(unit, header::COMMIT) = commit_word(unit);
            self.words[(ABORTED_OFFSET / 4) as usize] = 1;
            Some(unit)
        }

        fn read(&self) -> Records {
            Snapshot::from_words(self.words.clone()).records(self.capacity)
        }
    }

    #[test]
    fn records_come_back_in_order_with_their_exact_bytes() {
        let mut arena = Arena::new(64);
        arena.push(1, b"hello").expect("fits");
        arena.push(2, b"").expect("fits");
        arena.push(3, &[7; 33]).expect("fits");
        let found = arena.read();
        assert_eq!(found.records.iter().map(|r| r.site.0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(found.records[0].payload, b"hello");
        assert_eq!(found.records[1].payload, b"");
        assert_eq!(found.records[2].payload, [7; 33]);
        assert_eq!((found.unfinished, found.dropped, found.full), (0, 0, false));
    }

    #[test]
    fn a_message_of_the_largest_size_fits_into_the_smallest_arena() {
        let mut arena = Arena::new(crate::layout::minimum_capacity(4096));
        arena.push(0, &[1; 4096]).expect("the first record always fits");
        assert_eq!(arena.push(1, b"no room"), None);
        let found = arena.read();
        assert_eq!(found.records.len(), 1);
        assert_eq!(found.records[0].payload.len(), 4096);
    }

    #[test]
    fn a_full_arena_keeps_what_it_holds_and_says_what_it_dropped() {
        let mut arena = Arena::new(10);
        for site in 0..100 {
            arena.push(site, &[site as u8; 16]);
        }
        let found = arena.read();
        assert_eq!(found.records.len(), 2);
        assert_eq!(
            found.dropped, 1,
            "the one that reserved past the end; the others did not touch the cursor"
        );
        assert!(found.full);
        assert_eq!(found.unfinished, 0);
    }

    #[test]
    fn an_unfinished_record_does_not_hide_the_next_one() {
        let mut arena = Arena::new(64);
        arena.push(1, b"first");
        let torn = arena.reserve(20).expect("fits");
        *arena.at(torn, header::LENGTH) = record_units(20);
        arena.push(2, b"second");
        arena.reserve(40).expect("fits");
        arena.push(3, b"third");
        let found = arena.read();
        assert_eq!(found.records.iter().map(|r| r.site.0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(found.unfinished, 2);
    }

    #[test]
    fn hostile_words_never_lead_outside_the_snapshot() {
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        for round in 0..2000 {
            let words: Vec<u32> = (0..round % 97)
                .map(|i| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    match state % 5 {
                        0 => u32::MAX,
                        1 => commit_word(i / 4),
                        2 => (state >> 32) as u32 % 16,
                        _ => (state >> 32) as u32,
                    }
                })
                .collect();
            let total = words.len() * 4;
            let found = Snapshot::from_words(words).records(u32::MAX);
            assert!(found.records.iter().map(|r| r.payload.len()).sum::<usize>() <= total);
        }
    }

    #[test]
    fn an_arena_cut_short_yields_what_is_left() {
        let mut arena = Arena::new(64);
        arena.push(1, b"first");
        arena.push(2, &[9; 64]);
        let bytes: Vec<u8> = arena.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        for cut in 0..bytes.len() {
            let found = Snapshot::from_bytes(&bytes[..cut]).records(64);
            assert!(found.records.len() <= 2);
        }
        let used = Snapshot::used_bytes(arena.words[0], bytes.len());
        assert_eq!(Snapshot::from_bytes(&bytes[..used]).records(64), arena.read());
    }

    #[test]
    fn message_data_aligns_every_size_to_eight_bytes() {
        let data = message_data([&b"abc"[..], &b""[..], &b"12345678"[..]]);
        assert_eq!(data.len(), 8 + 3 + 5 + 8 + 8 + 8);
        assert_eq!(data[..8], 3u64.to_ne_bytes());
        assert_eq!(data[16..24], 0u64.to_ne_bytes());
        assert_eq!(data[24..32], 8u64.to_ne_bytes());
        assert_eq!(&data[32..], b"12345678");
    }
}
