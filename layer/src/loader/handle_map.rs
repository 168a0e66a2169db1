//! A map from handles to shared values whose readers take no lock.
//!
//! Every intercepted call reads a map; creating and destroying objects writes it. Readers probe a few atomic words;
//! writers take a lock.
//!
//! Why no reader needs a lock: a handle reaches other threads only after the call that creates it has returned, and no call
//! uses an object while another destroys it (Vulkan, "Threading Behavior"). So a key's insertion happens before its reads,
//! and its reads before its removal. Only the insertion and removal of *other* keys race with a read. The reader then
//! compares key words and passes on: a slot never becomes free again, so no probe ends early, and segments stay linked while
//! there is an entry. So a map without entries has no reader, and gives its segments back: the library can be unloaded then.

use crate::locks::{lock, try_lock};
use crate::sync::{Arc, AtomicPtr, AtomicUsize, Mutex, Ordering, SLOTS, array, const_fn};
use std::marker::PhantomData;
use std::ptr;

const FREE: usize = 0;
const REMOVED: usize = 1;

struct Slot<T> {
    key: AtomicUsize,
    /// Null, or from [`Arc::into_raw`]: the slot owns one count.
    value: AtomicPtr<T>,
}

impl<T> Slot<T> {
    /// Replaces the value, and returns the old one.
    fn replace(&self, value: Option<Arc<T>>) -> Option<Arc<T>> {
        let new = value.map_or(ptr::null_mut(), |value| Arc::into_raw(value).cast_mut());
        let old = self.value.swap(new, Ordering::AcqRel);
        // SAFETY: from `Arc::into_raw`, and the slot no longer owns its count.
        (!old.is_null()).then(|| unsafe { Arc::from_raw(old) })
    }
}

struct Segment<T> {
    slots: [Slot<T>; SLOTS],
    next: AtomicPtr<Segment<T>>,
}

impl<T> Segment<T> {
    const_fn! {
        fn new() -> Self {
            let slots = array![
                Slot { key: AtomicUsize::new(FREE), value: AtomicPtr::new(ptr::null_mut()) };
                SLOTS
            ];
            Self { slots, next: AtomicPtr::new(ptr::null_mut()) }
        }
    }

    fn probe(&self, key: usize) -> impl Iterator<Item = &Slot<T>> {
        // Handles are aligned addresses or small integers: the product mixes all bits into the six that select a slot.
        let mixed = (key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58;
        let (head, tail) = self.slots.split_at(mixed as usize % SLOTS);
        tail.iter().chain(head)
    }
}

/// A map from handles to shared values. Keys 0 and 1 are not handles.
pub struct HandleMap<T> {
    first: Segment<T>,
    writers: Mutex<()>,
    /// The map shares and drops values like an `Arc`, on any thread. Atomic pointers alone would be `Sync` for every `T`.
    values: PhantomData<Arc<T>>,
}

impl<T> HandleMap<T> {
    const_fn! {
        /// An empty map.
        pub fn new() -> Self {
            Self { first: Segment::new(), writers: Mutex::new(()), values: PhantomData }
        }
    }

    fn segments(&self) -> impl Iterator<Item = &Segment<T>> {
        std::iter::successors(Some(&self.first), |segment| {
            // SAFETY: a linked segment stays linked while there is an entry to look for.
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
    /// The entry must not be removed or replaced while the value is in use.
    pub unsafe fn get<'a>(&self, key: usize) -> Option<&'a T> {
        // SAFETY: from `Arc::into_raw`; the map owns one count until the entry is removed (the caller's contract).
        self.slot(key)
            .and_then(|slot| unsafe { slot.value.load(Ordering::Acquire).as_ref() })
    }

    /// Adds or replaces an entry.
    pub fn insert(&self, key: usize, value: Arc<T>) {
        let _writing = lock(&self.writers);
        match self.slot(key) {
            Some(slot) => drop(slot.replace(Some(value))),
            None => self.add(key, value),
        }
    }

    /// The value of `key`, added by `make` if there is none.
    ///
    /// # Safety
    /// As [`HandleMap::get`], and the last entry must not be removed meanwhile.
    pub unsafe fn get_or_insert<'a>(&self, key: usize, make: impl FnOnce() -> Arc<T>) -> Option<&'a T> {
        // SAFETY: the entry is neither removed nor replaced while the value is in use (the caller's contract).
        unsafe {
            if let Some(value) = self.get(key) {
                return Some(value);
            }
            let _writing = lock(&self.writers);
            if self.slot(key).is_none() {
                self.add(key, make());
            }
            self.get(key)
        }
    }

    /// Adds an entry for a new key. The caller holds the writers' lock.
    fn add(&self, key: usize, value: Arc<T>) {
        if key <= REMOVED {
            return;
        }
        let mut segment = &self.first;
        loop {
            if let Some(slot) = segment
                .probe(key)
                .find(|slot| slot.key.load(Ordering::Relaxed) <= REMOVED)
            {
                slot.replace(Some(value));
                slot.key.store(key, Ordering::Release);
                return;
            }
            if segment.next.load(Ordering::Acquire).is_null() {
                segment
                    .next
                    .store(Box::into_raw(Box::new(Segment::new())), Ordering::Release);
            }
            // SAFETY: segments are unlinked under the writers' lock only.
            match unsafe { segment.next.load(Ordering::Acquire).as_ref() } {
                Some(next) => segment = next,
                None => return,
            }
        }
    }

    /// Removes an entry, and returns its value.
    pub fn remove(&self, key: usize) -> Option<Arc<T>> {
        let _writing = lock(&self.writers);
        let slot = self.slot(key)?;
        slot.key.store(REMOVED, Ordering::Release);
        let value = slot.replace(None);
        let mut slots = self.segments().flat_map(|segment| &segment.slots);
        if slots.all(|slot| slot.value.load(Ordering::Acquire).is_null()) {
            self.release_segments();
        }
        value
    }

    /// Frees all segments but the first. No other thread may use them, and their values must be gone.
    fn release_segments(&self) {
        let mut next = self.first.next.swap(ptr::null_mut(), Ordering::AcqRel);
        while !next.is_null() {
            // SAFETY: from `Box::into_raw`, and unlinked, so that nothing else has it.
            let segment = unsafe { Box::from_raw(next) };
            next = segment.next.load(Ordering::Acquire);
        }
    }

    /// A counted reference to the value of `key`.
    pub fn share(&self, key: usize) -> Option<Arc<T>> {
        let _writing = lock(&self.writers);
        let value = self.slot(key)?.value.load(Ordering::Acquire);
        // SAFETY: the map owns one count of the value, and removal waits for the lock.
        (!value.is_null()).then(|| unsafe { counted(value) })
    }

    /// Whether a value satisfies the condition. Takes no counted reference to any value.
    pub fn any(&self, condition: impl FnMut(&T) -> bool) -> bool {
        let _writing = lock(&self.writers);
        self.segments()
            .flat_map(|segment| &segment.slots)
            // SAFETY: from `Arc::into_raw`; the map owns one count of every value, and removal waits for the lock.
            .filter_map(|slot| unsafe { slot.value.load(Ordering::Acquire).as_ref() })
            .any(condition)
    }

    /// Counted references to all values, in no particular order.
    pub fn values(&self) -> Vec<Arc<T>> {
        self.frozen(<[Arc<T>]>::to_vec)
    }

    /// As [`Self::values`]. `None` if another thread has the writers' lock.
    pub fn try_values(&self) -> Option<Vec<Arc<T>>> {
        let _writing = try_lock(&self.writers)?;
        Some(self.all())
    }

    /// Runs `body` on all values while none can be added or removed.
    pub fn frozen<R>(&self, body: impl FnOnce(&[Arc<T>]) -> R) -> R {
        let _writing = lock(&self.writers);
        body(&self.all())
    }

    /// Counted references to all values. The caller holds the writers' lock.
    fn all(&self) -> Vec<Arc<T>> {
        self.segments()
            .flat_map(|segment| &segment.slots)
            .map(|slot| slot.value.load(Ordering::Acquire))
            .filter(|value| !value.is_null())
            // SAFETY: the map owns one count of every value, and removal waits for the lock.
            .map(|value| unsafe { counted(value) })
            .collect()
    }
}

impl<T> Default for HandleMap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for HandleMap<T> {
    fn drop(&mut self) {
        for slot in self.segments().flat_map(|segment| &segment.slots) {
            drop(slot.replace(None));
        }
        self.release_segments();
    }
}

/// Another counted reference to a value.
///
/// # Safety
/// `value` must come from [`Arc::into_raw`], and its count must not be released meanwhile.
unsafe fn counted<T>(value: *const T) -> Arc<T> {
    // SAFETY: from `Arc::into_raw`, with a count that is not released meanwhile (the caller's contract).
    unsafe {
        Arc::increment_strong_count(value);
        Arc::from_raw(value)
    }
}

#[cfg(test)]
#[path = "handle_map_tests.rs"]
mod tests;
