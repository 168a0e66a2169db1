//! Memory that a program fills and then makes read-only: later writes raise SIGSEGV.

use anyhow::{Result, ensure};
use std::cell::Cell;
use std::ptr;

/// ReadOnlyPages, written in turn and then made read-only.
pub struct ReadOnlyPages {
    base: *mut u8,
    bytes: usize,
    used: Cell<usize>,
}

impl ReadOnlyPages {
    /// So many bytes.
    ///
    /// # Errors
    ///
    /// There is no memory.
    pub fn new(bytes: usize) -> Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: an anonymous mapping that replaces nothing.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        ensure!(base != libc::MAP_FAILED, "no memory for {bytes} bytes");
        Ok(Self {
            base: base.cast(),
            bytes,
            used: Cell::new(0),
        })
    }

    /// Copies values here. They stay as long as the pages.
    ///
    /// # Errors
    ///
    /// There is no room.
    pub fn put<T: Copy>(&self, values: &[T]) -> Result<*mut T> {
        let begin = self.used.get().next_multiple_of(align_of::<T>().max(16));
        let end = begin + size_of_val(values);
        ensure!(end <= self.bytes, "no room for {} bytes", size_of_val(values));
        self.used.set(end);
        // SAFETY: within the mapping, aligned, and not handed out before.
        unsafe {
            let place = self.base.add(begin).cast::<T>();
            place.copy_from_nonoverlapping(values.as_ptr(), values.len());
            Ok(place)
        }
    }

    /// Nothing can be written any more.
    ///
    /// # Errors
    ///
    /// The system says no.
    pub fn freeze(&self) -> Result<()> {
        // SAFETY: the range is exactly the mapping, and no reference into it exists.
        let result = unsafe { libc::mprotect(self.base.cast(), self.bytes, libc::PROT_READ) };
        ensure!(result == 0, "the pages stay writable");
        Ok(())
    }
}

impl Drop for ReadOnlyPages {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping; calls that used it are over.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}
