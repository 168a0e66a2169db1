//! A map from handles to shared values whose readers take no lock.
//!
//! Every intercepted call reads a map; creating and destroying objects writes it. Readers probe a few atomic words;
//! writers take a lock. Removal does not wait for readers: Vulkan forbids calls that use an object while another call
//! destroys it, and that rule keeps borrowed values valid.

use crate::locks::lock;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const SLOTS: usize = 64;
const FREE: usize = 0;
const REMOVED: usize = 1;

struct Slot<T> {
    key: AtomicUsize,
    value: AtomicPtr<T>,
}

struct Segment<T> {
    slots: [Slot<T>; SLOTS],
    next: AtomicPtr<Segment<T>>,
}

impl<T> Segment<T> {
    const fn new() -> Self {
        Self {
            slots: [const {
                Slot {
                    key: AtomicUsize::new(FREE),
                    value: AtomicPtr::new(ptr::null_mut()),
                }
            }; SLOTS],
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn probe(&self, key: usize) -> impl Iterator<Item = &Slot<T>> {
        // Handles are aligned addresses or small integers: mix all bits into the six that select a slot.
        let mixed = (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58;
        let (head, tail) = self.slots.split_at(mixed as usize % SLOTS);
        tail.iter().chain(head)
    }
}

/// A map from handles to shared values. Keys 0 and 1 are not handles.
pub struct HandleMap<T> {
    first: Segment<T>,
    writers: Mutex<()>,
}

impl<T> HandleMap<T> {
    /// An empty map.
    pub const fn new() -> Self {
        Self {
            first: Segment::new(),
            writers: Mutex::new(()),
        }
    }

    fn segments(&self) -> impl Iterator<Item = &Segment<T>> {
        std::iter::successors(Some(&self.first), |segment| {
            // SAFETY: a segment that is linked stays until the map is dropped.
            unsafe { segment.next.load(Ordering::Acquire).as_ref() }
        })
    }

    fn slot(&self, key: usize) -> Option<&Slot<T>> {
        if key <= REMOVED {
            return None;
        }
        self.segments().find_map(|segment| {
            segment
                .probe(key)
                .map(|slot| (slot.key.load(Ordering::Acquire), slot))
                .take_while(|(found, _)| *found != FREE)
                .find(|(found, _)| *found == key)
                .map(|(_, slot)| slot)
        })
    }

    /// The value of `key`. Wait-free.
    ///
    /// # Safety
    /// The entry must not be removed while the value is in use: for Vulkan objects that is a rule of the API, since
    /// no call may use an object that another call destroys.
    pub unsafe fn get<'a>(&self, key: usize) -> Option<&'a T> {
        // SAFETY: the pointer came from an `Arc` that the map holds until the entry is removed.
        self.slot(key)
            .and_then(|slot| unsafe { slot.value.load(Ordering::Acquire).as_ref() })
    }

    /// Adds or replaces an entry.
    pub fn insert(&self, key: usize, value: Arc<T>) {
        let _writing = lock(&self.writers);
        if let Some(slot) = self.slot(key) {
            let old = slot.value.swap(Arc::into_raw(value).cast_mut(), Ordering::AcqRel);
            release(old);
            return;
        }
        self.add(key, value);
    }

    /// The value of `key`, made and added first if there is none.
    ///
    /// # Safety
    /// As [`HandleMap::get`].
    pub unsafe fn get_or_insert<'a>(&self, key: usize, make: impl FnOnce() -> Arc<T>) -> Option<&'a T> {
        // SAFETY: the caller vouches for the entry.
        if let Some(value) = unsafe { self.get(key) } {
            return Some(value);
        }
        let _writing = lock(&self.writers);
        if self.slot(key).is_none() {
            self.add(key, make());
        }
        // SAFETY: as above.
        unsafe { self.get(key) }
    }

    /// Adds an entry that is not there; the caller holds the writers' lock.
    fn add(&self, key: usize, value: Arc<T>) {
        if key <= REMOVED {
            return;
        }
        let value = Arc::into_raw(value).cast_mut();
        let mut segment = &self.first;
        loop {
            if let Some(slot) = segment
                .probe(key)
                .find(|slot| slot.key.load(Ordering::Relaxed) <= REMOVED)
            {
                slot.value.store(value, Ordering::Release);
                slot.key.store(key, Ordering::Release);
                return;
            }
            if segment.next.load(Ordering::Acquire).is_null() {
                segment
                    .next
                    .store(Box::into_raw(Box::new(Segment::new())), Ordering::Release);
            }
            // SAFETY: just linked, or linked before; never unlinked.
            match unsafe { segment.next.load(Ordering::Acquire).as_ref() } {
                Some(next) => segment = next,
                None => return,
            }
        }
    }

    /// Takes an entry out.
    pub fn remove(&self, key: usize) -> Option<Arc<T>> {
        let _writing = lock(&self.writers);
        let slot = self.slot(key)?;
        slot.key.store(REMOVED, Ordering::Release);
        let value = slot.value.swap(ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: the pointer came from `Arc::into_raw` in `insert`, and the slot no longer holds it.
        (!value.is_null()).then(|| unsafe { Arc::from_raw(value) })
    }

    /// A counted reference to the value of `key`.
    pub fn share(&self, key: usize) -> Option<Arc<T>> {
        let _writing = lock(&self.writers);
        let value = self.slot(key)?.value.load(Ordering::Acquire);
        // SAFETY: the map owns one count of the value, and removal waits for the lock.
        (!value.is_null()).then(|| unsafe { counted(value) })
    }

    /// Whether the map has no entries. Takes no counted reference to any value.
    pub fn is_empty(&self) -> bool {
        let _writing = lock(&self.writers);
        self.segments()
            .flat_map(|segment| &segment.slots)
            .all(|slot| slot.value.load(Ordering::Acquire).is_null())
    }

    /// Counted references to all values, in no particular order.
    pub fn values(&self) -> Vec<Arc<T>> {
        self.frozen(<[Arc<T>]>::to_vec)
    }

    /// Runs `body` on all values while none can be added or removed.
    pub fn frozen<R>(&self, body: impl FnOnce(&[Arc<T>]) -> R) -> R {
        let _writing = lock(&self.writers);
        let values: Vec<Arc<T>> = self
            .segments()
            .flat_map(|segment| &segment.slots)
            .map(|slot| slot.value.load(Ordering::Acquire))
            .filter(|value| !value.is_null())
            // SAFETY: the map owns one count of every value, and removal waits for the lock.
            .map(|value| unsafe { counted(value) })
            .collect();
        body(&values)
    }
}

impl<T> Default for HandleMap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for HandleMap<T> {
    fn drop(&mut self) {
        for slot in &self.first.slots {
            release(slot.value.load(Ordering::Acquire));
        }
        let mut next = self.first.next.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: segments come from `Box::into_raw`, and nobody else has the map.
            let segment = unsafe { Box::from_raw(next) };
            for slot in &segment.slots {
                release(slot.value.load(Ordering::Acquire));
            }
            next = segment.next.load(Ordering::Acquire);
        }
    }
}

/// Another counted reference to a value.
///
/// # Safety
/// `value` must come from [`Arc::into_raw`], and its count must not be released meanwhile.
unsafe fn counted<T>(value: *const T) -> Arc<T> {
    // SAFETY: the caller's contract.
    unsafe {
        Arc::increment_strong_count(value);
        Arc::from_raw(value)
    }
}

fn release<T>(value: *mut T) {
    if !value.is_null() {
        // SAFETY: the pointer came from `Arc::into_raw` in `insert` and is released once.
        drop(unsafe { Arc::from_raw(value) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_until_they_are_removed() {
        let map = HandleMap::new();
        for key in 2..500usize {
            map.insert(key * 16, Arc::new(key));
        }
        for key in 2..500usize {
            // SAFETY: nothing is removed yet.
            assert_eq!(unsafe { map.get(key * 16) }, Some(&key));
        }
        for key in (2..500usize).step_by(2) {
            assert_eq!(map.remove(key * 16).as_deref(), Some(&key));
            assert!(map.remove(key * 16).is_none());
        }
        for key in 2..500usize {
            // SAFETY: nothing is removed while the value is in use.
            assert_eq!(unsafe { map.get(key * 16) }.is_some(), key % 2 == 1);
        }
        assert_eq!(map.values().len(), 249);
    }

    #[test]
    fn replacing_and_reusing_slots_keeps_every_count_right() {
        let value = Arc::new(7);
        {
            let map = HandleMap::new();
            for round in 0..10_000usize {
                map.insert(16 + (round % 3) * 8, Arc::clone(&value));
                map.insert(4096, Arc::clone(&value));
                map.remove(4096);
            }
            assert_eq!(Arc::strong_count(&value), 4);
            assert!(map.first.next.load(Ordering::Relaxed).is_null(), "slots are used again");
        }
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn null_handles_have_no_entry() {
        let map = HandleMap::new();
        map.insert(0, Arc::new(1));
        // SAFETY: nothing is removed.
        assert_eq!(unsafe { map.get(0) }, None);
    }
}
