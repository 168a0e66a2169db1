//! Memory that shaders write prints to, behind the records in their buffer; see `vkabort_record::print::layout`.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use vkabort_instrument as instrument;
use vkabort_record::layout::{SLOT_UNITS, UNIT_WORDS};
use vkabort_record::print::layout::{
    CHUNKS, CONTROL_BYTES, CURRENT_OFFSET, DROPPED_OFFSET, chunk_slots, chunk_units, cursor_offset,
};

/// Memory for prints.
pub struct PrintArea {
    /// Mapped as long as the arena exists.
    words: NonNull<[AtomicU32]>,
    /// Device address of the first word.
    address: u64,
}

// SAFETY: the host accesses the words as atomics.
unsafe impl Send for PrintArea {}
// SAFETY: as for `Send`.
unsafe impl Sync for PrintArea {}

impl PrintArea {
    /// An area in a mapped buffer.
    ///
    /// # Safety
    /// `base` and the device address `address` must point to the same `bytes` mapped and zeroed bytes, aligned to 64, which only
    /// shaders access otherwise and which are mapped as long as the area is used.
    pub unsafe fn new(base: NonNull<u8>, address: u64, bytes: u32) -> Self {
        Self {
            words: NonNull::slice_from_raw_parts(base.cast(), bytes as usize / 4),
            address,
        }
    }

    /// The area for the rewriter.
    pub fn options(&self, skipped_models: Vec<u32>) -> instrument::Prints {
        instrument::Prints {
            address: self.address,
            bytes: self.bytes(),
            skipped_models,
        }
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u32 {
        size_of_val(self.words()) as u32
    }

    fn words(&self) -> &[AtomicU32] {
        // SAFETY: the words are mapped and aligned, and shaders access them as whole words (the contract of `new`).
        unsafe { self.words.as_ref() }
    }

    fn word(&self, byte_offset: u32) -> Option<&AtomicU32> {
        self.words().get(byte_offset as usize / 4)
    }

    fn load(&self, byte_offset: u32) -> u32 {
        self.word(byte_offset).map_or(0, |word| word.load(Ordering::Acquire))
    }

    fn store(&self, byte_offset: u32, value: u32) {
        if let Some(word) = self.word(byte_offset) {
            word.store(value, Ordering::Release);
        }
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
        self.load(cursor_offset(chunk))
    }

    /// Units of a chunk that are reserved.
    pub fn reserved(&self, chunk: u32) -> u32 {
        self.cursor(chunk).min(chunk_slots(self.bytes())) * SLOT_UNITS
    }

    /// Makes another chunk the current one.
    pub fn set_current(&self, chunk: u32) {
        self.store(CURRENT_OFFSET, chunk);
        // Submissions that are counted from here on read the new value.
        fence(Ordering::SeqCst);
    }

    /// Copies units of a chunk. COMMIT is the first word of a record, so the others are not older.
    pub fn copy(&self, chunk: u32, from: u32, to: u32) -> Vec<u32> {
        let word = |unit: u32| (CONTROL_BYTES / 4 + (self.first_unit(chunk) + unit) * UNIT_WORDS) as usize;
        let words = self.words().get(word(from)..word(to)).unwrap_or_default();
        words.iter().map(|word| word.load(Ordering::Acquire)).collect()
    }

    /// Empties a chunk. No shader may access it meanwhile.
    pub fn empty(&self, chunk: u32) {
        let first = (CONTROL_BYTES / 4 + self.first_unit(chunk) * UNIT_WORDS) as usize;
        let used = (self.reserved(chunk) * UNIT_WORDS) as usize;
        for word in self.words().get(first..first + used).unwrap_or_default() {
            word.store(0, Ordering::Relaxed);
        }
        self.store(cursor_offset(chunk), 0);
        fence(Ordering::SeqCst);
    }

    /// A counter of DROPPED.
    pub fn dropped(&self, counter: u32) -> u32 {
        self.load(DROPPED_OFFSET + 4 * counter)
    }
}

const _: () = assert!(CHUNKS > 1);

#[cfg(test)]
pub mod testing {
    //! An area without a driver, and a shader that prints.

    use super::*;
    use vkabort_record::layout::{HEADER_UNITS, commit_word, header};
    use vkabort_record::print::layout::SHARED_COUNTER;

    /// An area with chunks of `slots` slots, which lives as long as the process.
    pub fn area(slots: u32) -> PrintArea {
        let bytes = CONTROL_BYTES + CHUNKS * slots * 64;
        let words: Vec<AtomicU32> = (0..bytes / 4).map(|_| AtomicU32::new(0)).collect();
        let base = NonNull::from(words.leak()).cast();
        // SAFETY: the words are never freed.
        unsafe { PrintArea::new(base, 0x1000, bytes) }
    }

    impl PrintArea {
        /// Reserves a slot as a shader does. Returns its unit, or counts the print.
        pub fn reserve(&self) -> Option<u32> {
            let current = self.load(CURRENT_OFFSET);
            let slots = chunk_slots(self.bytes());
            let slot = match self.cursor(current) < slots {
                true => self.word(cursor_offset(current))?.fetch_add(1, Ordering::AcqRel),
                false => slots,
            };
            if slot >= slots {
                self.word(DROPPED_OFFSET + 4 * SHARED_COUNTER)?
                    .fetch_add(1, Ordering::AcqRel);
                return None;
            }
            Some(self.first_unit(current) + slot * SLOT_UNITS)
        }

        /// Completes the record of a reserved slot.
        pub fn commit(&self, unit: u32, site: u32) {
            let at = CONTROL_BYTES + unit * 16;
            self.store(at + header::LENGTH * 4, HEADER_UNITS);
            self.store(at + header::SITE * 4, site);
            self.store(at + header::COMMIT * 4, commit_word(unit));
        }
    }
}
