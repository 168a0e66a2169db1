//! A map from handles to shared values whose readers take no lock.
//!
//! Every intercepted call reads a map; creating and destroying objects writes it. Readers probe a few atomic words;
//! writers take a lock.
//!
//! Why no reader needs a lock: a handle reaches other threads only after the call that creates it has returned, and no call
//! uses an object while another destroys it (Vulkan, "Threading Behavior"). So a key's insertion happens before its reads,
//! and its reads before its removal. Only the insertion and removal of *other* keys race with a read. The reader then
//! compares key words and passes on: a slot never becomes free again, so no probe ends early, and segments stay linked.

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
            // SAFETY: a linked segment stays linked until the map is dropped.
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
    /// As [`HandleMap::get`].
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
            // SAFETY: a linked segment stays linked until the map is dropped.
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
        slot.replace(None)
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
        let release = |segment: &Segment<T>| segment.slots.iter().for_each(|slot| drop(slot.replace(None)));
        release(&self.first);
        let mut next = self.first.next.load(Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: from `Box::into_raw`; the map is borrowed exclusively, so no reader has the segment.
            let segment = unsafe { Box::from_raw(next) };
            release(&segment);
            next = segment.next.load(Ordering::Acquire);
        }
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
mod tests {
    use super::*;

    /// End of the range of keys. Needs several segments.
    const KEYS: usize = if cfg!(miri) { 100 } else { 500 };
    /// Miri takes a thousand times as long for a round.
    const ROUNDS: usize = if cfg!(miri) { 100 } else { 10_000 };

    #[test]
    fn entries_come_back_until_they_are_removed() {
        let map = HandleMap::new();
        for key in 2..KEYS {
            map.insert(key * 16, Arc::new(key));
        }
        for key in 2..KEYS {
            // SAFETY: nothing is removed yet.
            assert_eq!(unsafe { map.get(key * 16) }, Some(&key));
        }
        for key in (2..KEYS).step_by(2) {
            assert_eq!(map.remove(key * 16).as_deref(), Some(&key));
            assert!(map.remove(key * 16).is_none());
        }
        for key in 2..KEYS {
            // SAFETY: nothing is removed while the value is in use.
            assert_eq!(unsafe { map.get(key * 16) }.is_some(), key % 2 == 1);
        }
        assert_eq!(map.values().len(), KEYS / 2 - 1);
    }

    #[test]
    fn replacing_and_reusing_slots_keeps_every_count_right() {
        let value = Arc::new(7);
        {
            let map = HandleMap::new();
            for round in 0..ROUNDS {
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
    fn try_values_does_not_wait_for_a_writer() {
        let map = HandleMap::new();
        map.insert(16, Arc::new(1));
        map.frozen(|_| assert_eq!(map.try_values(), None));
        assert_eq!(map.try_values(), Some(vec![Arc::new(1)]));
    }

    #[test]
    fn null_handles_have_no_entry() {
        let map = HandleMap::new();
        map.insert(0, Arc::new(1));
        // SAFETY: nothing is removed.
        assert_eq!(unsafe { map.get(0) }, None);
    }

    #[test]
    fn checking_for_entries_takes_no_counted_reference() {
        let map = HandleMap::new();
        assert!(!map.any(|_| true));
        map.insert(16, Arc::new(1));
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    assert!(map.any(|value| *value == 1));
                }
            });
            for round in 0..ROUNDS {
                map.insert(32, Arc::new(round));
                assert_eq!(map.remove(32).and_then(Arc::into_inner), Some(round));
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
