//! Copies the arena to an owned snapshot. Records are decoded only from the copy.

use super::Arena;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use vkabort_record::layout::{CONTROL_BYTES, CURSOR_OFFSET, UNIT_BYTES};
use vkabort_record::snapshot::{Records, Snapshot};

/// 32-bit words of a control block.
const CONTROL_WORDS: usize = CONTROL_BYTES as usize / 4;

/// The part of an arena to read. Offsets are in 16-byte units from the start of the record area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// From an offset to CURSOR.
    From(u32),
    /// From an offset to the end of the arena. For a device that the driver lost, since the loss may clear CURSOR.
    AllFrom(u32),
}

impl Arena {
    /// Size of the record area in 16-byte units.
    fn capacity(&self) -> u32 {
        self.bytes().saturating_sub(CONTROL_BYTES) / UNIT_BYTES
    }

    fn cursor(&self) -> &AtomicU32 {
        // SAFETY: the word is within the mapped control block and aligned to 4, and the GPU accesses it as a whole.
        unsafe { AtomicU32::from_ptr(self.control().as_ptr().add(CURSOR_OFFSET as usize).cast()) }
    }

    /// Reads records.
    pub fn read(&self, extent: Extent) -> Records {
        let cursor = self.cursor().load(Ordering::Acquire);
        let (used, from) = match extent {
            Extent::From(unit) => (Snapshot::used_bytes(cursor, self.bytes() as usize), unit),
            Extent::AllFrom(unit) => (self.bytes() as usize, unit),
        };
        let (control, records) = (self.control().cast::<u32>(), self.base().cast::<u32>());
        let words: Vec<u32> = (0..used / 4)
            .map(|word| {
                let source = if word < CONTROL_WORDS { control } else { records };
                // SAFETY: within the mapped memory, since both blocks begin with a control block and `used` is at most the
                // arena's size. Volatile, because a GPU that could not be drained may still write.
                unsafe { source.as_ptr().add(word).read_volatile() }
            })
            .collect();
        let mut records = Snapshot::from_words(words).records(self.capacity());
        records.records.retain(|record| record.unit >= from);
        records
    }

    /// Reads the complete records from `from` to the first that is unfinished, while the GPU runs. Returns them and the unit at
    /// which the next read begins.
    pub fn read_finished(&self, from: u32) -> (Records, u32) {
        let mut records = self.read(Extent::From(from));
        let end = records.keep_finished(from);
        (records, end)
    }

    /// Empties the arena. The GPU must be idle. Clears all of it, since CURSOR does not bound it: a shader can lower CURSOR
    /// through a stray pointer, and the records above it would be read with those of a later loss.
    pub fn reset(&self) {
        // SAFETY: within the mapped memory, and no other thread or device accesses it while all queues are idle and locked.
        unsafe {
            self.base().as_ptr().write_bytes(0, self.bytes() as usize);
            self.control().as_ptr().write_bytes(0, CONTROL_BYTES as usize);
        }
        fence(Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::address_source::AddressSource;
    use crate::arena::fixed_mapping::FixedMapping;
    use crate::arena::mapped_buffer::MappedBuffer;
    use vkabort_record::layout::{HEADER_UNITS, commit_word, header};

    const BYTES: u32 = 1 << 16;

    /// Writes a complete record without a payload, and the cursor behind it.
    fn put(arena: &Arena, unit: u32) {
        let words = arena.base().cast::<u32>();
        for (word, value) in [(header::LENGTH, HEADER_UNITS), (header::COMMIT, commit_word(unit))] {
            let at = CONTROL_WORDS + (unit * UNIT_BYTES / 4 + word) as usize;
            // SAFETY: the record is within the mapping.
            unsafe { words.as_ptr().add(at).write(value) };
        }
        arena.cursor().store(unit + HEADER_UNITS, Ordering::Relaxed);
    }

    #[test]
    fn no_record_survives_a_reset_wherever_the_cursor_is() {
        let mapping = FixedMapping::new(BYTES.into()).expect("a free address");
        let arena = Arena {
            records: MappedBuffer::without_driver(mapping),
            control: Err("none"),
            constants: None,
            bytes: BYTES,
            source: AddressSource::Host,
            address_file: None,
        };
        for cursor in [2 * HEADER_UNITS, HEADER_UNITS, 0, u32::MAX] {
            (0..2).for_each(|index| put(&arena, index * HEADER_UNITS));
            arena.cursor().store(cursor, Ordering::Relaxed);
            assert_eq!(arena.read(Extent::AllFrom(0)).records.len(), 2);
            arena.reset();
            assert_eq!(
                arena.read(Extent::AllFrom(0)),
                Records::default(),
                "CURSOR was {cursor}"
            );
        }
    }
}
