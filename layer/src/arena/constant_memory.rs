//! Memory that shaders read large constant data from. It follows the records in their buffer.
//!
//! Many compilers turn a constant array into one store for each element, which takes them minutes. Pipeline caches hit only if
//! the address of data is the same in every run, so the search for a place starts where the data's hash points to. Equal data
//! is stored once. A place is free again when the modules that read it are dropped, which outlive their pipelines.

use crate::locks::lock;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::slice;
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::xxh3_64;

/// Alignment of places in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// Memory for constant data.
pub struct ConstantMemory(Arc<Inner>);

struct Inner {
    /// Host address of the first byte.
    base: NonNull<u8>,
    /// Device address of the first byte.
    address: u64,
    bytes: usize,
    /// Places in use, by offset in bytes.
    places: Mutex<BTreeMap<usize, Place>>,
}

struct Place {
    bytes: usize,
    /// Number of [`PlacedData`].
    users: usize,
}

// SAFETY: the memory is accessed only under the lock, and by the device.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// Data in the memory. Its place is free again when the last one of the same data is dropped.
pub struct PlacedData {
    memory: Arc<Inner>,
    offset: usize,
}

impl ConstantMemory {
    /// Memory in a mapped buffer.
    ///
    /// # Safety
    /// `base` and the device address `address` must point to the same `bytes` mapped bytes, aligned to 16, which nothing else
    /// accesses and which are mapped as long as [`Self::place`] is called.
    pub unsafe fn new(base: NonNull<u8>, address: u64, bytes: u32) -> Self {
        Self(Arc::new(Inner {
            base,
            address,
            bytes: bytes as usize,
            places: Mutex::default(),
        }))
    }

    /// Stores words, or finds the same words. `None`: there is no room.
    pub fn place(&self, words: &[u32]) -> Option<PlacedData> {
        let memory = &self.0;
        let bytes = size_of_val(words);
        let last = memory.bytes.checked_sub(bytes)? / ALIGNMENT;
        // SAFETY: any initialised words are bytes.
        let hash = xxh3_64(unsafe { slice::from_raw_parts(words.as_ptr().cast(), bytes) });
        let first = (hash % (last as u64 + 1)) as usize * ALIGNMENT;
        let mut places = lock(&memory.places);
        for start in [first, 0] {
            let mut offset = start;
            while offset <= last * ALIGNMENT {
                let before = places.range_mut(..offset + bytes).next_back();
                let Some((place, found)) = before.filter(|(place, found)| **place + found.bytes > offset) else {
                    memory.write(offset, words);
                    places.insert(offset, Place { bytes, users: 1 });
                    return Some(PlacedData::new(memory, offset));
                };
                if *place == offset && found.bytes == bytes && memory.holds(offset, words) {
                    found.users += 1;
                    return Some(PlacedData::new(memory, offset));
                }
                offset = (place + found.bytes).next_multiple_of(ALIGNMENT);
            }
        }
        None
    }
}

impl Inner {
    fn at(&self, offset: usize) -> *mut u32 {
        // SAFETY: the caller's place is within the memory.
        unsafe { self.base.as_ptr().add(offset).cast() }
    }

    /// Writes words to a place that nothing reads.
    fn write(&self, offset: usize, words: &[u32]) {
        // SAFETY: the place is within the memory, which is aligned, and free: neither host nor device access it.
        unsafe { self.at(offset).copy_from_nonoverlapping(words.as_ptr(), words.len()) };
    }

    /// Whether a place in use begins with these words.
    fn holds(&self, offset: usize, words: &[u32]) -> bool {
        // SAFETY: the place is in use and as large as `words`, and is only read as long as it is.
        unsafe { slice::from_raw_parts(self.at(offset), words.len()) == words }
    }
}

impl PlacedData {
    fn new(memory: &Arc<Inner>, offset: usize) -> Self {
        Self {
            memory: Arc::clone(memory),
            offset,
        }
    }

    /// Its device address, a multiple of 16.
    pub fn address(&self) -> u64 {
        self.memory.address + self.offset as u64
    }
}

impl Drop for PlacedData {
    fn drop(&mut self) {
        let mut places = lock(&self.memory.places);
        if let Some(place) = places.get_mut(&self.offset) {
            place.users -= 1;
            if place.users == 0 {
                places.remove(&self.offset);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 1024;

    fn memory(storage: &mut [u128; BYTES / 16]) -> ConstantMemory {
        let base = NonNull::from(storage).cast();
        // SAFETY: the storage outlives the memory in each test.
        unsafe { ConstantMemory::new(base, 0x1_0000, BYTES as u32) }
    }

    #[test]
    fn equal_data_is_stored_once_and_at_the_same_address_in_every_run() {
        let (mut storage, mut other) = ([0; BYTES / 16], [0; BYTES / 16]);
        let (first_run, second_run) = (memory(&mut storage), memory(&mut other));
        let a = first_run.place(&[1, 2, 3]).expect("room");
        let same = first_run.place(&[1, 2, 3]).expect("room");
        let b = first_run.place(&[1, 2, 4]).expect("room");
        assert_eq!(a.address(), same.address());
        assert_ne!(a.address(), b.address());
        assert_eq!(second_run.place(&[1, 2, 3]).expect("room").address(), a.address());
        let address = a.address();
        drop(a);
        assert!(
            first_run.0.holds((address - 0x1_0000) as usize, &[1, 2, 3]),
            "still in use"
        );
        assert_eq!(first_run.place(&[1, 2, 3]).expect("room").address(), address);
    }

    #[test]
    fn all_memory_can_be_used_and_used_again() {
        let mut storage = [0; BYTES / 16];
        let memory = memory(&mut storage);
        for round in 0..3 {
            let places: Vec<_> = (0..BYTES / ALIGNMENT)
                .map(|i| memory.place(&[round, i as u32]).expect("room"))
                .collect();
            let mut addresses: Vec<u64> = places.iter().map(PlacedData::address).collect();
            addresses.sort_unstable();
            addresses.dedup();
            assert_eq!(addresses.len(), BYTES / ALIGNMENT);
            assert!(memory.place(&[77]).is_none());
        }
        assert!(memory.place(&[5; BYTES / 4]).is_some());
        assert!(memory.place(&[5; BYTES / 4 + 1]).is_none());
    }

    #[test]
    fn data_may_outlive_the_memory() {
        let mut storage = [0; BYTES / 16];
        let memory = memory(&mut storage);
        let data = memory.place(&[1]);
        drop(memory);
        drop(data);
    }
}
