//! Numbers of the address files that this process uses.

use crate::locks::lock;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Numbers per stem: arenas with saved addresses that may exist at the same time.
pub(super) const SLOTS: u32 = 64;

/// The stems and numbers in use.
static TAKEN: Mutex<BTreeSet<(String, u32)>> = Mutex::new(BTreeSet::new());

/// A file stem and a number that no other live arena of this process has. Released when dropped.
pub struct AddressSlot((String, u32));

impl AddressSlot {
    /// Takes the lowest free number of a stem from `first` on.
    pub fn take(stem: &str, first: u32) -> Option<Self> {
        let mut taken = lock(&TAKEN);
        let mut slots = (first..SLOTS).map(|number| (stem.to_owned(), number));
        slots.find(|slot| taken.insert(slot.clone())).map(Self)
    }

    /// The number.
    pub fn number(&self) -> u32 {
        self.0.1
    }

    /// Whether this is the only slot in use in this process.
    pub fn is_only(&self) -> bool {
        lock(&TAKEN).len() == 1
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut taken = lock(&TAKEN);
        taken.remove(&self.0);
        if taken.is_empty() {
            // An empty set keeps its memory, which would outlive the library when it is unloaded.
            *taken = BTreeSet::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_while_in_use() {
        let take = |stem| AddressSlot::take(stem, 0).expect("a free number");
        let (a, b) = (take("slots"), take("slots"));
        assert_eq!((a.number(), b.number()), (0, 1));
        assert_eq!(take("other slots").number(), 0);
        assert!(!a.is_only());
        drop(a);
        assert_eq!(take("slots").number(), 0);
        assert!(AddressSlot::take("slots", SLOTS).is_none());
    }
}
