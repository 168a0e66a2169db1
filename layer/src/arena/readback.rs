//! Copies the arena to an owned snapshot. Records are decoded only from the copy.

use super::{Arena, CURSOR_WORD};
use std::sync::atomic::{Ordering, fence};
use vkabort_record::layout::{CONTROL_BYTES, UNIT_BYTES};
use vkabort_record::records::Records;
use vkabort_record::snapshot::{FindSites, Snapshot};

/// The records to read. Offsets are in 16-byte units from the start of the record area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordRange {
    /// From an offset to CURSOR.
    ToCursor(u32),
    /// From an offset to the end of the arena. For a device that the driver lost, since the loss may clear CURSOR.
    ToEnd(u32),
}

impl Arena {
    /// Size of the record area in 16-byte units.
    fn capacity(&self) -> u32 {
        self.bytes().saturating_sub(CONTROL_BYTES) / UNIT_BYTES
    }

    /// Reads records. `find_sites` returns the site table of a module, for the messages of compact records.
    pub fn read(&self, range: RecordRange, find_sites: FindSites<'_>) -> Records {
        let cursor = self.control()[CURSOR_WORD].load(Ordering::Acquire);
        let (used, from) = match range {
            RecordRange::ToCursor(unit) => (Snapshot::used_bytes(cursor, self.bytes() as usize), unit),
            RecordRange::ToEnd(unit) => (self.bytes() as usize, unit),
        };
        let records = self.words().get(self.control().len()..used / 4).unwrap_or_default();
        let mut words = Vec::with_capacity(used / 4);
        for part in [self.control(), records] {
            words.extend(part.iter().map(|word| word.load(Ordering::Relaxed)));
        }
        let mut records = Snapshot::from_words(words).records_of(self.capacity(), find_sites);
        records.records.retain(|record| record.unit >= from);
        records
    }

    /// Reads the complete records from `from` to the first that is unfinished, while the GPU runs. Returns them and the unit at
    /// which the next read begins.
    pub fn read_finished(&self, from: u32, find_sites: FindSites<'_>) -> (Records, u32) {
        let mut records = self.read(RecordRange::ToCursor(from), find_sites);
        let end = records.keep_finished(from);
        (records, end)
    }

    /// Empties the arena. The GPU must be idle: aborts that happen meanwhile may be lost. Clears all of it, since CURSOR does
    /// not bound it: a shader can lower CURSOR through a stray pointer, and the records above it would be read with those of a
    /// later loss.
    pub fn reset(&self) {
        for word in self.words().iter().chain(self.control()) {
            word.store(0, Ordering::Relaxed);
        }
        fence(Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::AddressSource;
    use crate::arena::mapped_buffer::{FixedMapping, MappedBuffer};
    use vkabort_record::layout::{HEADER_UNITS, SLOT_UNITS, commit_word, header};

    const BYTES: u32 = 1 << 16;

    /// Writes a complete record without a payload into a slot, and the cursor behind it.
    fn put(arena: &Arena, slot: u32) {
        let unit = slot * SLOT_UNITS;
        for (word, value) in [(header::LENGTH, HEADER_UNITS), (header::COMMIT, commit_word(unit))] {
            let at = arena.control().len() + (unit * UNIT_BYTES / 4 + word) as usize;
            arena.words()[at].store(value, Ordering::Relaxed);
        }
        set_cursor(arena, slot + 1);
    }

    fn set_cursor(arena: &Arena, cursor: u32) {
        arena.control()[CURSOR_WORD].store(cursor, Ordering::Relaxed);
    }

    #[test]
    fn no_record_survives_a_reset_wherever_the_cursor_is() {
        let mapping = FixedMapping::new(BYTES.into()).expect("a free address");
        let arena = Arena {
            records: MappedBuffer::without_driver(mapping),
            control: Err("none"),
            constants: None,
            parts: Default::default(),
            bytes: BYTES,
            source: AddressSource::Host,
            address_file: None,
        };
        for cursor in [2, 1, 0, u32::MAX] {
            (0..2).for_each(|index| put(&arena, index));
            set_cursor(&arena, cursor);
            assert_eq!(arena.read(RecordRange::ToEnd(0), &|_| None).records.len(), 2);
            arena.reset();
            assert_eq!(
                arena.read(RecordRange::ToEnd(0), &|_| None),
                Records::default(),
                "CURSOR was {cursor}"
            );
        }
    }
}
