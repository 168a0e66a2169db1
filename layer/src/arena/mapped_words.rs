//! A part of an arena's memory, in words that shaders and host access as atomics.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Words of mapped memory.
pub struct MappedWords {
    /// Mapped as long as the arena exists.
    words: NonNull<[AtomicU32]>,
    /// Device address of the first word.
    pub address: u64,
}

// SAFETY: the host accesses the words as atomics.
unsafe impl Send for MappedWords {}
// SAFETY: as for `Send`.
unsafe impl Sync for MappedWords {}

impl MappedWords {
    /// The words in a mapped buffer.
    ///
    /// # Safety
    /// `base` and the device address `address` must point to the same `bytes` mapped bytes, aligned to 64, which only shaders access
    /// otherwise and which are mapped as long as the words are used.
    pub unsafe fn new(base: NonNull<u8>, address: u64, bytes: u32) -> Self {
        Self {
            words: NonNull::slice_from_raw_parts(base.cast(), bytes as usize / 4),
            address,
        }
    }

    /// All words.
    pub fn all(&self) -> &[AtomicU32] {
        // SAFETY: the words are mapped and aligned, and shaders access them as whole words (the contract of `new`).
        unsafe { self.words.as_ref() }
    }

    /// Their size in bytes.
    pub fn bytes(&self) -> u32 {
        size_of_val(self.all()) as u32
    }

    /// The word at a byte offset.
    pub fn word(&self, byte_offset: u32) -> Option<&AtomicU32> {
        self.all().get(byte_offset as usize / 4)
    }

    /// Loads the word at a byte offset. 0 if there is none.
    pub fn load(&self, byte_offset: u32) -> u32 {
        self.word(byte_offset).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// Stores the word at a byte offset.
    pub fn store(&self, byte_offset: u32, value: u32) {
        if let Some(word) = self.word(byte_offset) {
            word.store(value, Ordering::Release);
        }
    }
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::locks::lock;
    use std::sync::Mutex;

    /// Words of a value in `bytes` bytes, which live as long as the process, and the memory that they are.
    pub fn mapped_words(bytes: u32, value: u32) -> (MappedWords, &'static [AtomicU32]) {
        /// Here they are in reach, so that Miri does not take them for a leak.
        static ALL: Mutex<Vec<&'static [AtomicU32]>> = Mutex::new(Vec::new());
        let words: Vec<AtomicU32> = (0..bytes / 4).map(|_| AtomicU32::new(value)).collect();
        let words: &'static [AtomicU32] = words.leak();
        lock(&ALL).push(words);
        // SAFETY: the words are never freed, and accessed as atomics.
        (
            unsafe { MappedWords::new(NonNull::from(words).cast(), 0x1000, bytes) },
            words,
        )
    }
}
