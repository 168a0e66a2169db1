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
    for key in (3..KEYS).step_by(2) {
        assert!(!map.first.next.load(Ordering::Relaxed).is_null());
        assert_eq!(map.remove(key * 16).as_deref(), Some(&key));
    }
    assert!(
        map.first.next.load(Ordering::Relaxed).is_null(),
        "without entries, no segment is left"
    );
    map.insert(16, Arc::new(1));
    assert_eq!(map.values(), [Arc::new(1)]);
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
