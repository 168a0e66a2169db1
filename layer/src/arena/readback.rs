//! From mapped memory to an owned snapshot. Everything that is read later is read from the copy.

use crate::arena::Arena;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use vkabort_record::layout::{CONTROL_BYTES, CURSOR_OFFSET, UNIT_BYTES};
use vkabort_record::snapshot::{Records, Snapshot};

/// 32-bit words of a control block.
const CONTROL_WORDS: usize = CONTROL_BYTES as usize / 4;

/// What was read.
pub struct Read {
    /// The records.
    pub records: Records,
    /// Units of the record area that were reserved by then, at most its capacity.
    pub end: u32,
}

/// How much of an arena is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// From a unit on, up to where CURSOR says.
    From(u32),
    /// From a unit on, up to the end: the driver has lost the device, and perhaps the control block with it.
    AllFrom(u32),
}

impl Arena {
    /// Units of the record area.
    pub fn capacity(&self) -> u32 {
        self.bytes().saturating_sub(CONTROL_BYTES) / UNIT_BYTES
    }

    fn cursor(&self) -> &AtomicU32 {
        // SAFETY: within the mapped control block and aligned to 4.
        unsafe { AtomicU32::from_ptr(self.control().as_ptr().add(CURSOR_OFFSET as usize).cast()) }
    }

    /// Reads records.
    pub fn read(&self, extent: Extent) -> Read {
        let cursor = self.cursor().load(Ordering::Acquire);
        let (used, from) = match extent {
            Extent::From(unit) => (Snapshot::used_bytes(cursor, self.bytes() as usize), unit),
            Extent::AllFrom(unit) => (self.bytes() as usize, unit),
        };
        let (control, records) = (self.control().cast::<u32>(), self.base().cast::<u32>());
        let words: Vec<u32> = (0..used / 4)
            .map(|word| {
                let from = if word < CONTROL_WORDS { control } else { records };
                // SAFETY: within the mapped memory: both begin with a control block, and the records are behind the one in
                // the arena's buffer. Volatile, since a GPU that could not be drained may still write.
                unsafe { from.as_ptr().add(word).read_volatile() }
            })
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
        let used = Snapshot::used_bytes(self.cursor().load(Ordering::Acquire), self.bytes() as usize);
        // SAFETY: within the mapped memory; the caller has all queues at rest. Only the used part can differ from zero.
        unsafe {
            self.base().as_ptr().write_bytes(0, used);
            self.control().as_ptr().write_bytes(0, CONTROL_BYTES as usize);
        }
        fence(Ordering::Release);
    }
}
