//! Counts the items that differ by their keys: a hash table of positions, so that it takes 8 bytes for each.

use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher as _, Hash};

/// The different ones among the items inserted so far. Keys are computed again where hashes are equal, and not kept.
pub(super) struct Distinct {
    /// The upper half of a key's hash, and the position of the item with 1 added; 0 if there is none. More than half are free.
    slots: Vec<(u32, u32)>,
    count: u32,
}

impl Distinct {
    /// For `items` items at most.
    pub(super) fn with_capacity(items: usize) -> Self {
        Self {
            slots: vec![(0, 0); (items + 1).saturating_mul(2).next_power_of_two()],
            count: 0,
        }
    }

    /// Adds the item at `position`. Returns whether it differs from all others; false if there is no room for it.
    pub(super) fn insert<K: Eq + Hash>(&mut self, position: usize, key_of: impl Fn(usize) -> K) -> bool {
        let key = key_of(position);
        let hash = FxBuildHasher.hash_one(&key);
        let (mask, high) = (self.slots.len() - 1, (hash >> 32) as u32);
        let has_room = (self.count as usize) < self.slots.len() / 2;
        let Some(entry) = u32::try_from(position + 1).ok().filter(|_| has_room) else {
            return false;
        };
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            match *slot {
                (_, 0) => {
                    *slot = (high, entry);
                    self.count += 1;
                    return true;
                }
                (other_high, other) if other_high == high && key_of(other as usize - 1) == key => return false,
                _ => at = (at + 1) & mask,
            }
        }
        false
    }

    /// How many items differ.
    pub(super) fn count(&self) -> u64 {
        self.count.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_count_once() {
        let items: Vec<u64> = (0..5000).map(|item| item % 1237 * 0x1_0000_0001).collect();
        let mut distinct = Distinct::with_capacity(items.len());
        let new = (0..items.len()).filter(|position| distinct.insert(*position, |at| items[at]));
        assert_eq!(new.collect::<Vec<_>>(), (0..1237).collect::<Vec<_>>());
        assert_eq!(distinct.count(), 1237);
    }

    #[test]
    fn a_full_table_ends_the_search() {
        let mut distinct = Distinct::with_capacity(0);
        assert!(distinct.insert(0, |at| at));
        assert!(!distinct.insert(1, |at| at));
        assert_eq!(distinct.count(), 1);
    }
}
