//! Host memory at a fixed address.
//!
//! Each live arena takes the first free slot of a row. Other mappings are never replaced: the kernel is asked to fail
//! instead.

pub use imp::FixedMapping;

/// Mappings are multiples of this, in bytes: the largest `minImportedHostPointerAlignment` of any implementation.
pub const GRANULARITY: u64 = 1 << 16;

#[cfg(unix)]
mod imp {
    use crate::arena::fixed_mapping::GRANULARITY;
    use std::ptr::NonNull;

    /// Addresses of the rows, far from where Linux places programs, heaps, libraries and stacks. The second row is for
    /// processors with an address space of 39 bits.
    const ROWS: [usize; 2] = [0x2AB0_0000_0000, 0x2A_B000_0000];
    /// Bytes between two slots of a row.
    pub(super) const STRIDE: usize = 1 << 30;
    /// Slots per row.
    const SLOTS: usize = 64;

    /// Pages mapped for an arena.
    pub struct FixedMapping {
        base: NonNull<u8>,
        bytes: usize,
    }

    impl FixedMapping {
        /// Maps at least `bytes` zeroed bytes in the first free slot. `None`: no slot is free or large enough.
        pub fn new(bytes: u64) -> Option<Self> {
            let bytes = usize::try_from(bytes.next_multiple_of(GRANULARITY)).ok()?;
            if bytes > STRIDE {
                return None;
            }
            ROWS.iter()
                .flat_map(|row| (0..SLOTS).map(move |slot| row + slot * STRIDE))
                .find_map(|address| map_at(address, bytes))
        }

        /// The first byte.
        pub fn base(&self) -> NonNull<u8> {
            self.base
        }

        /// Size in bytes.
        pub fn bytes(&self) -> u64 {
            self.bytes as u64
        }
    }

    impl Drop for FixedMapping {
        fn drop(&mut self) {
            // SAFETY: the pages were mapped by `map_at` and nothing uses them once the mapping is dropped.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
        }
    }

    fn map_at(address: usize, bytes: usize) -> Option<FixedMapping> {
        #[cfg(target_os = "linux")]
        const FIXED: i32 = libc::MAP_FIXED_NOREPLACE;
        #[cfg(not(target_os = "linux"))]
        const FIXED: i32 = 0;
        // SAFETY: the new anonymous mapping replaces no other mapping, by the flag or because the address is only a hint.
        let result = unsafe {
            libc::mmap(
                address as *mut libc::c_void,
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | FIXED,
                -1,
                0,
            )
        };
        if result == libc::MAP_FAILED {
            return None;
        }
        let mapping = FixedMapping {
            base: NonNull::new(result.cast())?,
            bytes,
        };
        // A kernel that lacks the flag treats the address as a hint.
        (result as usize == address).then_some(mapping)
    }
}

#[cfg(not(unix))]
mod imp {
    use std::ptr::NonNull;

    /// Not available on this platform.
    pub enum FixedMapping {}

    impl FixedMapping {
        pub fn new(_: u64) -> Option<Self> {
            None
        }

        pub fn base(&self) -> NonNull<u8> {
            match *self {}
        }

        pub fn bytes(&self) -> u64 {
            match *self {}
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::fixed_mapping::imp::STRIDE;

    #[test]
    fn mappings_take_the_first_free_slot_and_free_it_when_dropped() {
        let first = FixedMapping::new(1 << 20);
        let second = FixedMapping::new(1);
        let address = |m: &Option<FixedMapping>| m.as_ref().map(|m| m.base().as_ptr() as usize);
        let (Some(a), Some(b)) = (address(&first), address(&second)) else {
            panic!("no slot is free");
        };
        assert_eq!(b, a + STRIDE);
        assert_eq!(second.as_ref().map(FixedMapping::bytes), Some(GRANULARITY));
        drop(first);
        let again = FixedMapping::new(4096);
        assert_eq!(address(&again), Some(a), "the lowest free slot is used first");
        assert!(FixedMapping::new(1 << 40).is_none());
    }
}
