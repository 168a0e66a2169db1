//! The memory that shaders write prints to; see `vkabort_record::print::layout`.

use crate::arena::MappedWords;
use std::sync::atomic::{Ordering, fence};
use vkabort_instrument as instrument;
use vkabort_record::print::layout::{
    CHUNKS, CONTROL_BYTES, CURRENT_OFFSET, DROPPED_OFFSET, FIRST_SLOT, SLOT_BYTES, SLOT_WORDS, chunk_slots,
};

/// Memory for prints.
pub struct PrintArea(MappedWords);

impl PrintArea {
    /// An area in zeroed memory, whose first chunk is the current one.
    pub fn new(words: MappedWords) -> Self {
        let area = Self(words);
        for chunk in 0..CHUNKS {
            area.set_cursor(chunk, FIRST_SLOT);
        }
        area
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

    /// Slots of a chunk.
    pub fn slots(&self) -> u32 {
        chunk_slots(self.bytes())
    }

    /// The first slot of a chunk, from the start of the first.
    pub fn first_slot(&self, chunk: u32) -> u32 {
        chunk * self.slots()
    }

    /// Byte offset of a chunk, which its CURSOR is at.
    fn offset(&self, chunk: u32) -> u32 {
        CONTROL_BYTES + self.first_slot(chunk) * SLOT_BYTES
    }

    /// CURSOR of a chunk: it differs if anything was reserved.
    pub fn cursor(&self, chunk: u32) -> u32 {
        self.0.load(self.offset(chunk))
    }

    fn set_cursor(&self, chunk: u32, slot: u32) {
        self.0.store(self.offset(chunk), slot);
    }

    /// The slot of a chunk behind the last that is reserved.
    pub fn reserved(&self, chunk: u32) -> u32 {
        self.cursor(chunk).min(self.slots())
    }

    /// Makes another chunk the current one.
    pub fn set_current(&self, chunk: u32) {
        self.0.store(CURRENT_OFFSET, chunk);
        // Submissions that are counted from here on read the new value.
        fence(Ordering::SeqCst);
    }

    /// Copies slots of a chunk. COMMIT is the first word of a record, so the others are not older.
    pub fn copy(&self, chunk: u32, from: u32, to: u32) -> Vec<u32> {
        let word = |slot: u32| (self.offset(chunk) / 4 + slot * SLOT_WORDS) as usize;
        let words = self.0.all().get(word(from)..word(to)).unwrap_or_default();
        words.iter().map(|word| word.load(Ordering::Acquire)).collect()
    }

    /// Empties a chunk. No shader may access it meanwhile.
    pub fn empty(&self, chunk: u32) {
        let first = (self.offset(chunk) / 4) as usize;
        let used = (self.reserved(chunk) * SLOT_WORDS) as usize;
        for word in self.0.all().get(first..first + used).unwrap_or_default() {
            word.store(0, Ordering::Relaxed);
        }
        self.set_cursor(chunk, FIRST_SLOT);
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
    use crate::arena::testing::mapped_words;
    use vkabort_record::print::layout::{SHARED_COUNTER, commit_word, header, record_slots};
    use vkabort_record::print::record::{PrintIdentity, PrintShape};
    use vkabort_record::site::ModuleHash;

    /// Slots of a record without arguments.
    const SLOTS: u32 = record_slots(PrintIdentity::ALL.words);

    /// An area whose chunks have room for `records` records, which lives as long as the process.
    pub fn area(records: u32) -> PrintArea {
        let bytes = CONTROL_BYTES + CHUNKS * (FIRST_SLOT + records * SLOTS) * SLOT_BYTES;
        PrintArea::new(mapped_words(bytes, 0).0)
    }

    /// Every number is that of a print without arguments.
    pub fn shape(number: u32) -> Option<PrintShape> {
        Some(PrintShape {
            code: ModuleHash(7).into(),
            site: number,
            execution_model: Some(5),
            identity: PrintIdentity::ALL,
            words: 0,
        })
    }

    impl PrintArea {
        /// Reserves a record as a shader does. Returns its slot, or counts the print.
        pub fn reserve(&self) -> Option<u32> {
            let base = self.offset(self.0.load(CURRENT_OFFSET));
            let at = match self.0.load(base) < self.slots() {
                true => self.0.word(base)?.fetch_add(SLOTS, Ordering::AcqRel),
                false => self.slots(),
            };
            if at + SLOTS > self.slots() {
                self.0
                    .word(DROPPED_OFFSET + 4 * SHARED_COUNTER)?
                    .fetch_add(1, Ordering::AcqRel);
                return None;
            }
            Some((base - CONTROL_BYTES) / SLOT_BYTES + at)
        }

        /// Completes a reserved record.
        pub fn commit(&self, slot: u32, number: u32) {
            let at = CONTROL_BYTES + slot * SLOT_BYTES;
            self.0.store(at + header::NUMBER * 4, number);
            self.0.store(at + header::COMMIT * 4, commit_word(slot));
        }
    }
}
