//! A device's own space of addresses.

use std::collections::BTreeMap;

/// Pages.
pub const GRANULE: u64 = 4096;

/// Which addresses of a device's own space belong to which host memory.
pub struct Addresses {
    next: u64,
    /// Length and host address of what is bound, by device address.
    pub bound: BTreeMap<u64, (u64, u64)>,
}

impl Default for Addresses {
    fn default() -> Self {
        // Another place in every process, as address spaces have it that are shared or randomised.
        let place = u64::from(std::process::id()) & 0xFFFF;
        Self {
            next: 0x0001_0000_0000_0000 + (place << 30),
            bound: BTreeMap::new(),
        }
    }
}

impl Addresses {
    /// Whether nothing is there.
    pub fn is_free(&self, address: u64, size: u64) -> bool {
        let before = self.bound.range(..address + size).next_back();
        before.is_none_or(|(start, (length, _))| start + length <= address)
    }

    /// Where a buffer comes to be: where it is wanted, if anywhere. `None`: something else is there.
    pub fn place(&mut self, wanted: u64, size: u64) -> Option<u64> {
        let size = size.next_multiple_of(GRANULE);
        let mut address = wanted;
        while wanted == 0 && !(address != 0 && self.is_free(address, size)) {
            // A page that is nobody's between any two.
            self.next += size + GRANULE;
            address = self.next - size;
        }
        self.is_free(address, size).then_some(address)
    }

    /// The host memory at a device address that begins a buffer.
    pub fn host(&self, address: u64) -> Option<*mut u8> {
        self.bound
            .get(&address)
            .filter(|bound| bound.1 != 0)
            .map(|bound| bound.1 as *mut u8)
    }
}
