//! Readers of the map of handles take no lock. Each model has a reader, and writers of other keys that use, remove and
//! add the slots that the reader probes: a segment has two slots here, and all keys begin at the first.
//!
//! The reader is the thread that runs last by default. Of the accesses to a word, loom 0.7 compares a store with the last
//! one only: it would not move a writer, which loads the word before it stores to it, before the load of an earlier reader.

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::thread;
use vkabort_models::loader::handle_map::HandleMap;
use vkabort_models::sync::{Arc, AtomicUsize, Ordering};

/// The value of a handle. loom reports an access that is not ordered after the write of the value.
struct Value(UnsafeCell<usize>);

impl Value {
    fn new(number: usize) -> Arc<Self> {
        let value = Self(UnsafeCell::new(0));
        // SAFETY: no other thread has the value yet.
        value.0.with_mut(|inner| unsafe { *inner = number });
        Arc::new(value)
    }

    fn number(&self) -> usize {
        // SAFETY: nothing writes after the construction; loom checks it.
        self.0.with(|inner| unsafe { *inner })
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: the last owner drops; loom checks that every read is ordered before.
        self.0.with_mut(|inner| unsafe { *inner = 0 });
    }
}

/// Handles, aligned like addresses, that select the first slot of a segment.
const KEYS: [usize; 5] = [16, 48, 80, 112, 128];

/// Runs `body` under every interleaving with at most three switches away from a thread that could go on.
fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(body);
}

fn map() -> Arc<HandleMap<Value>> {
    Arc::new(HandleMap::new())
}

/// The number of `key`'s value, as a reader sees it.
fn read(map: &HandleMap<Value>, key: usize) -> Option<usize> {
    // SAFETY: no model removes a key that another thread reads.
    unsafe { map.get(key) }.map(Value::number)
}

#[test]
fn a_key_is_found_while_others_come_and_go() {
    model(|| {
        let map = map();
        map.insert(KEYS[1], Value::new(1));
        map.insert(KEYS[0], Value::new(0));
        let reader = {
            let map = Arc::clone(&map);
            thread::spawn(move || {
                assert_eq!(read(&map, KEYS[0]), Some(0));
                assert_eq!(read(&map, KEYS[4]), None);
            })
        };
        // Frees the slot before that of the first key, uses it again, and begins a second segment.
        assert_eq!(map.remove(KEYS[1]).map(|value| value.number()), Some(1));
        map.insert(KEYS[2], Value::new(2));
        map.insert(KEYS[3], Value::new(3));
        assert!(reader.join().is_ok());
        assert_eq!(
            [0, 1, 2, 3].map(|index| read(&map, KEYS[index])),
            [Some(0), None, Some(2), Some(3)]
        );
    });
}

#[test]
fn a_new_handle_is_found_by_the_thread_that_receives_it() {
    model(|| {
        let map = map();
        map.insert(KEYS[0], Value::new(0));
        let handle = Arc::new(AtomicUsize::new(0));
        let other = {
            let map = Arc::clone(&map);
            thread::spawn(move || {
                map.insert(KEYS[2], Value::new(2));
                drop(map.remove(KEYS[2]));
            })
        };
        let reader = {
            let (map, handle) = (Arc::clone(&map), Arc::clone(&handle));
            thread::spawn(move || {
                let key = handle.load(Ordering::Acquire);
                if key != 0 {
                    assert_eq!(read(&map, key), Some(1));
                }
            })
        };
        map.insert(KEYS[1], Value::new(1));
        handle.store(KEYS[1], Ordering::Release);
        assert!(other.join().is_ok() && reader.join().is_ok());
    });
}

#[test]
fn a_handle_that_the_driver_uses_again_has_its_new_value() {
    model(|| {
        let map = map();
        map.insert(KEYS[0], Value::new(0));
        let handle = Arc::new(AtomicUsize::new(0));
        let other = {
            let map = Arc::clone(&map);
            // May take the slot that the first key leaves.
            thread::spawn(move || map.insert(KEYS[1], Value::new(1)))
        };
        let reader = {
            let (map, handle) = (Arc::clone(&map), Arc::clone(&handle));
            thread::spawn(move || {
                let key = handle.load(Ordering::Acquire);
                if key != 0 {
                    assert_eq!(read(&map, key), Some(2));
                }
            })
        };
        assert_eq!(map.remove(KEYS[0]).map(|value| value.number()), Some(0));
        map.insert(KEYS[0], Value::new(2));
        handle.store(KEYS[0], Ordering::Release);
        assert!(other.join().is_ok() && reader.join().is_ok());
        assert_eq!(read(&map, KEYS[0]), Some(2));
        assert_eq!(read(&map, KEYS[1]), Some(1));
    });
}

#[test]
fn two_threads_that_use_a_queue_first_share_its_state() {
    // Without other queues, and with those that fill the first segment.
    for others in [0, 2] {
        model(move || {
            let map = map();
            KEYS[..others].iter().for_each(|key| map.insert(*key, Value::new(0)));
            let constructed = Arc::new(AtomicUsize::new(0));
            let use_queue = {
                let (map, constructed) = (Arc::clone(&map), Arc::clone(&constructed));
                move || {
                    // SAFETY: the entry is not removed.
                    let value = unsafe {
                        map.get_or_insert(KEYS[2], || {
                            constructed.fetch_add(1, Ordering::Relaxed);
                            Value::new(2)
                        })
                    };
                    assert_eq!(value.map(Value::number), Some(2));
                }
            };
            let other = thread::spawn(use_queue.clone());
            use_queue();
            assert!(other.join().is_ok());
            assert_eq!(constructed.load(Ordering::Relaxed), 1);
        });
    }
}

#[test]
fn counted_references_outlive_a_removal() {
    model(|| {
        let map = map();
        map.insert(KEYS[0], Value::new(0));
        let sharer = {
            let map = Arc::clone(&map);
            thread::spawn(move || {
                if let Some(value) = map.share(KEYS[0]) {
                    assert_eq!(value.number(), 0);
                }
                let numbers: Vec<usize> = map.values().iter().map(|value| value.number()).collect();
                assert!(numbers.iter().all(|number| [0, 1].contains(number)), "{numbers:?}");
            })
        };
        drop(map.remove(KEYS[0]));
        map.insert(KEYS[1], Value::new(1));
        assert!(sharer.join().is_ok());
        assert!(map.any(|_| true));
    });
}

#[test]
fn nothing_changes_while_the_map_is_frozen() {
    model(|| {
        let map = map();
        map.insert(KEYS[0], Value::new(0));
        let observer = {
            let map = Arc::clone(&map);
            thread::spawn(move || {
                map.frozen(|values| {
                    let found = read(&map, KEYS[1]);
                    assert_eq!(found.is_some(), values.len() == 2);
                    thread::yield_now();
                    assert_eq!(read(&map, KEYS[1]), found);
                });
            })
        };
        map.insert(KEYS[1], Value::new(1));
        assert!(observer.join().is_ok());
    });
}
