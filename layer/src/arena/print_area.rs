//! Memory that shaders write prints to, behind the records in their buffer; see `vkabort_record::print::layout`.

use super::mapped_words::MappedWords;
use std::sync::atomic::{Ordering, fence};
use vkabort_instrument as instrument;
use vkabort_record::layout::UNIT_WORDS;
use vkabort_record::print::layout::{
    CHUNKS, CONTROL_BYTES, CURRENT_OFFSET, DROPPED_OFFSET, chunk_units, cursor_offset,
};

/// Memory for prints.
pub struct PrintArea(MappedWords);

impl PrintArea {
    /// An area in zeroed memory.
    pub fn new(words: MappedWords) -> Self {
        Self(words)
    }

    /// The area for the rewriter.
    pub fn options(&self, skipped_models: Vec<u32>) -> instrument::Prints {
        instrument::Prints {
            address: self.0.address,
            bytes: self.bytes(),
            skipped_models,
        }
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u32 {
        self.0.bytes()
    }

    /// Units of a chunk.
    pub fn units(&self) -> u32 {
        chunk_units(self.bytes())
    }

    /// The first unit of a chunk, from the start of the first.
    pub fn first_unit(&self, chunk: u32) -> u32 {
        chunk * self.units()
    }

    /// CURSOR of a chunk: it differs if anything was reserved.
    pub fn cursor(&self, chunk: u32) -> u32 {
        self.0.load(cursor_offset(chunk))
    }

    /// Units of a chunk that are reserved.
    pub fn reserved(&self, chunk: u32) -> u32 {
        self.cursor(chunk).min(self.units())
    }

    /// Makes another chunk the current one.
    pub fn set_current(&self, chunk: u32) {
        self.0.store(CURRENT_OFFSET, chunk);
        // Submissions that are counted from here on read the new value.
        fence(Ordering::SeqCst);
    }

    /// Copies units of a chunk. COMMIT is the first word of a record, so the others are not older.
    pub fn copy(&self, chunk: u32, from: u32, to: u32) -> Vec<u32> {
        let word = |unit: u32| (CONTROL_BYTES / 4 + (self.first_unit(chunk) + unit) * UNIT_WORDS) as usize;
        let words = self.0.all().get(word(from)..word(to)).unwrap_or_default();
        words.iter().map(|word| word.load(Ordering::Acquire)).collect()
    }

    /// Empties a chunk. No shader may access it meanwhile.
    pub fn empty(&self, chunk: u32) {
        let first = (CONTROL_BYTES / 4 + self.first_unit(chunk) * UNIT_WORDS) as usize;
        let used = (self.reserved(chunk) * UNIT_WORDS) as usize;
        for word in self.0.all().get(first..first + used).unwrap_or_default() {
            word.store(0, Ordering::Relaxed);
        }
        self.0.store(cursor_offset(chunk), 0);
        fence(Ordering::SeqCst);
    }

    /// A counter of DROPPED.
    pub fn dropped(&self, counter: u32) -> u32 {
        self.0.load(DROPPED_OFFSET + 4 * counter)
    }
}

const _: () = assert!(CHUNKS > 1);

#[cfg(test)]
pub mod testing {
    //! An area without a driver, and a shader that prints.

    use super::*;
    use crate::arena::mapped_words::testing::mapped_words;
    use vkabort_record::layout::{UNIT_BYTES, commit_word};
    use vkabort_record::print::layout::{SHARED_COUNTER, header, record_units};
    use vkabort_record::print::record::PrintShape;
    use vkabort_record::site::ModuleHash;

    /// Units of a record without arguments.
    const UNITS: u32 = record_units(0);

    /// An area whose chunks have room for `records` records, which lives as long as the process.
    pub fn area(records: u32) -> PrintArea {
        let bytes = CONTROL_BYTES + CHUNKS * records * UNITS * UNIT_BYTES;
        PrintArea::new(mapped_words(bytes, 0).0)
    }

    /// Every number is that of a print without arguments.
    pub fn shape(number: u32) -> Option<PrintShape> {
        Some(PrintShape {
            code: ModuleHash(7).into(),
            site: number,
            execution_model: Some(5),
            words: 0,
        })
    }

    impl PrintArea {
        /// Reserves a record as a shader does. Returns its unit, or counts the print.
        pub fn reserve(&self) -> Option<u32> {
            let current = self.0.load(CURRENT_OFFSET);
            let at = match self.cursor(current) < self.units() {
                true => self.0.word(cursor_offset(current))?.fetch_add(UNITS, Ordering::AcqRel),
                false => self.units(),
            };
            if at + UNITS > self.units() {
                self.0
                    .word(DROPPED_OFFSET + 4 * SHARED_COUNTER)?
                    .fetch_add(1, Ordering::AcqRel);
                return None;
            }
            Some(self.first_unit(current) + at)
        }

        /// Completes a reserved record.
        pub fn commit(&self, unit: u32, number: u32) {
            let at = CONTROL_BYTES + unit * UNIT_BYTES;
            self.0.store(at + header::NUMBER * 4, number);
            self.0.store(at + header::COMMIT * 4, commit_word(unit));
        }
    }
}
