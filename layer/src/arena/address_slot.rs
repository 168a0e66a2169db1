//! Numbers of the address files that this process uses.

use crate::locks::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Numbers per stem: arenas with saved addresses that may exist at the same time.
pub(super) const SLOTS: u32 = 64;

/// The numbers in use, as bit sets by stem of the file name.
static TAKEN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// A number that no other live arena of this process has for the same stem. Released when dropped.
pub struct AddressSlot {
    stem: String,
    number: u32,
}

impl AddressSlot {
    /// Takes the lowest free number from `first` on.
    pub fn take(stem: &str, first: u32) -> Option<Self> {
        let mut taken = lock(&TAKEN);
        let bits = taken.entry(stem.to_owned()).or_default();
        let number = (first..SLOTS).find(|number| *bits >> number & 1 == 0)?;
        *bits |= 1 << number;
        Some(Self {
            stem: stem.to_owned(),
            number,
        })
    }

    /// The number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether this is the only slot in use in this process.
    pub fn is_only(&self) -> bool {
        lock(&TAKEN).values().map(|bits| bits.count_ones()).sum::<u32>() == 1
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut taken = lock(&TAKEN);
        if let Some(bits) = taken.get_mut(&self.stem) {
            *bits &= !(1 << self.number);
            if *bits == 0 {
                taken.remove(&self.stem);
            }
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
        assert_eq!((a.number, b.number), (0, 1));
        assert_eq!(take("other slots").number, 0);
        assert!(!a.is_only());
        drop(a);
        assert_eq!(take("slots").number, 0);
        assert!(AddressSlot::take("slots", SLOTS).is_none());
    }
}
