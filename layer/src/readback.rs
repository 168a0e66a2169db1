//! From mapped memory to an owned snapshot. Everything that is read later is read from the copy.

use crate::arena::Arena;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use vkabort_record::layout::{CONTROL_BYTES, CURSOR_OFFSET, UNIT_BYTES};
use vkabort_record::snapshot::{Records, Snapshot};

/// What was read.
pub struct Read {
    /// The records.
    pub records: Records,
    /// Units of the record area that were reserved by then, at most its capacity.
    pub end: u32,
}

impl Arena {
    /// Units of the record area.
    pub fn capacity(&self) -> u32 {
        self.bytes().saturating_sub(CONTROL_BYTES) / UNIT_BYTES
    }

    /// Reads the records that begin at or after a unit.
    pub fn read(&self, from: u32) -> Read {
        // SAFETY: within the mapped arena and aligned to 4.
        let cursor = unsafe { AtomicU32::from_ptr(self.base().as_ptr().add(CURSOR_OFFSET as usize).cast()) }
            .load(Ordering::Acquire);
        let used = Snapshot::used_bytes(cursor, self.bytes() as usize);
        let words: Vec<u32> = (0..used / 4)
            // SAFETY: within the mapped arena. Volatile, since a GPU that could not be drained may still write.
            .map(|word| unsafe { self.base().as_ptr().cast::<u32>().add(word).read_volatile() })
            .collect();
        let mut records = Snapshot::from_words(words).records(self.capacity());
        records.records.retain(|record| record.unit >= from);
        Read {
            records,
            end: cursor.min(self.capacity()),
        }
    }

    /// Empties the arena. Nothing may be writing to it.
    pub fn reset(&self) {
        // SAFETY: within the mapped arena; the caller has all queues at rest. Only the used part can differ from zero.
        unsafe {
            let cursor = AtomicU32::from_ptr(self.base().as_ptr().add(CURSOR_OFFSET as usize).cast());
            let used = Snapshot::used_bytes(cursor.load(Ordering::Acquire), self.bytes() as usize);
            self.base().as_ptr().write_bytes(0, used);
        }
        fence(Ordering::Release);
    }
}
