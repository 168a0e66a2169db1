//! Memory that shaders read large constant data from. It follows the records in their buffer.
//!
//! Many compilers turn a constant array into one store for each element, which takes them minutes. Pipeline caches hit only if
//! the address of data is the same in every run, so the search for a region starts where the data's hash points to. Equal data
//! is stored once. A region is free again when the modules that read it are dropped, which outlive their pipelines.

use super::mapped_words::MappedWords;
use crate::locks::lock;
use std::collections::BTreeMap;
use std::slice;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use xxhash_rust::xxh3::xxh3_64;

/// Alignment of regions in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// Memory for constant data.
pub struct ConstantMemory(Arc<Inner>);

struct Inner {
    /// Mapped while data is stored.
    words: MappedWords,
    /// Regions in use, by offset in bytes.
    regions: Mutex<BTreeMap<usize, Region>>,
}

struct Region {
    bytes: usize,
    /// Number of [`PlacedData`].
    users: usize,
}

/// Data in the memory. Its region is free again when the last one of the same data is dropped.
pub struct PlacedData {
    memory: Arc<Inner>,
    offset: usize,
}

impl ConstantMemory {
    /// Memory that shaders only read, and that is mapped as long as [`Self::place`] is called.
    pub fn new(words: MappedWords) -> Self {
        Self(Arc::new(Inner {
            words,
            regions: Mutex::default(),
        }))
    }

    /// Stores words, or finds the same words. `None`: there is no room.
    pub fn place(&self, words: &[u32]) -> Option<PlacedData> {
        let inner = &self.0;
        let memory = inner.words.all();
        let bytes = size_of_val(words);
        let last = size_of_val(memory).checked_sub(bytes)? / ALIGNMENT;
        // SAFETY: any initialised words are bytes.
        let hash = xxh3_64(unsafe { slice::from_raw_parts(words.as_ptr().cast(), bytes) });
        let first = (hash % (last as u64 + 1)) as usize * ALIGNMENT;
        let mut regions = lock(&inner.regions);
        for start in [first, 0] {
            let mut offset = start;
            while offset <= last * ALIGNMENT {
                let stored = || memory[offset / 4..].iter().zip(words);
                let before = regions.range_mut(..offset + bytes).next_back();
                let Some((begin, found)) = before.filter(|(begin, found)| **begin + found.bytes > offset) else {
                    stored().for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
                    regions.insert(offset, Region { bytes, users: 1 });
                    return Some(PlacedData::new(inner, offset));
                };
                let is_equal = || stored().all(|(own, other)| own.load(Ordering::Relaxed) == *other);
                if *begin == offset && found.bytes == bytes && is_equal() {
                    found.users += 1;
                    return Some(PlacedData::new(inner, offset));
                }
                offset = (begin + found.bytes).next_multiple_of(ALIGNMENT);
            }
        }
        None
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
        self.memory.words.address + self.offset as u64
    }
}

impl Drop for PlacedData {
    fn drop(&mut self) {
        let mut regions = lock(&self.memory.regions);
        if let Some(region) = regions.get_mut(&self.offset) {
            region.users -= 1;
            if region.users == 0 {
                regions.remove(&self.offset);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::NonNull;

    const BYTES: usize = 1024;

    fn memory(storage: &mut [u128; BYTES / 16]) -> ConstantMemory {
        let base = NonNull::from(storage).cast();
        // SAFETY: the storage outlives the memory in each test.
        ConstantMemory::new(unsafe { MappedWords::new(base, 0x1_0000, BYTES as u32) })
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
        assert_eq!(lock(&first_run.0.regions).len(), 2, "still in use");
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
