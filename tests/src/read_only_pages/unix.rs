//! The pages, mapped with `mmap`.

use anyhow::{Result, ensure};
use std::cell::Cell;
use std::ptr;

/// An anonymous mapping: values are appended, then the pages become read-only.
pub struct ReadOnlyPages {
    base: *mut u8,
    bytes: usize,
    used: Cell<usize>,
}

impl ReadOnlyPages {
    /// Maps `bytes` bytes.
    ///
    /// # Errors
    ///
    /// `mmap` fails.
    pub fn new(bytes: usize) -> Result<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: an anonymous mapping at an address that the kernel chooses replaces no other.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        ensure!(base != libc::MAP_FAILED, "cannot map {bytes} bytes");
        Ok(Self {
            base: base.cast(),
            bytes,
            used: Cell::new(0),
        })
    }

    /// Copies values into the pages. The pointer is valid as long as the pages.
    ///
    /// # Errors
    ///
    /// The pages are full.
    pub fn put<T: Copy>(&self, values: &[T]) -> Result<*mut T> {
        let begin = self.used.get().next_multiple_of(align_of::<T>().max(16));
        let end = begin + size_of_val(values);
        ensure!(end <= self.bytes, "no room for {} bytes", size_of_val(values));
        self.used.set(end);
        // SAFETY: `begin..end` is inside the mapping, aligned for `T`, and disjoint from earlier values.
        unsafe {
            let place = self.base.add(begin).cast::<T>();
            place.copy_from_nonoverlapping(values.as_ptr(), values.len());
            Ok(place)
        }
    }

    /// Makes the pages read-only.
    ///
    /// # Errors
    ///
    /// `mprotect` fails.
    pub fn freeze(&self) -> Result<()> {
        // SAFETY: the range is exactly the mapping, and no reference into it exists.
        let result = unsafe { libc::mprotect(self.base.cast(), self.bytes, libc::PROT_READ) };
        ensure!(result == 0, "cannot make the pages read-only");
        Ok(())
    }
}

impl Drop for ReadOnlyPages {
    fn drop(&mut self) {
        // SAFETY: the range is exactly the mapping, and no reference into it exists.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}
