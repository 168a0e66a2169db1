//! Reads and empties an arena. An offset of the layer's, in units of 16 bytes, is the index of a record here.

use super::{Arena, CAPACITY};
use crate::sync::Ordering;

/// The numbers of aborts.
pub type Records = Vec<u32>;

/// Modules are not modelled.
pub type FindSites<'a> = &'a dyn Fn(());

/// See `layer/src/arena/readback.rs`.
pub enum RecordRange {
    /// From an offset to CURSOR.
    ToCursor(u32),
    /// From an offset to the end.
    ToEnd(u32),
}

impl Arena {
    /// Reads the records that are complete.
    pub fn read(&self, range: RecordRange, _: FindSites<'_>) -> Records {
        let used = (self.0.cursor.load(Ordering::Acquire) as usize).min(CAPACITY);
        let (from, end) = match range {
            RecordRange::ToCursor(unit) => (unit as usize, used),
            RecordRange::ToEnd(unit) => (unit as usize, CAPACITY),
        };
        let numbers = self.0.records[..end].iter().skip(from);
        let numbers = numbers.map(|record| record.load(Ordering::Relaxed));
        numbers.filter(|number| *number != 0).collect()
    }

    /// Reads the records that are complete, to the first that is not. Returns the index of that one.
    pub fn read_finished(&self, from: u32, _: FindSites<'_>) -> (Records, u32) {
        let numbers = self.0.records.iter().skip(from as usize);
        let numbers = numbers.map(|record| record.load(Ordering::Relaxed));
        let records: Records = numbers.take_while(|number| *number != 0).collect();
        let end = from + records.len() as u32;
        (records, end)
    }

    /// Empties the arena. The GPU must be idle.
    pub fn reset(&self) {
        let words = self.0.records.iter().chain([&self.0.cursor]);
        words.for_each(|word| word.store(0, Ordering::Relaxed));
    }
}
