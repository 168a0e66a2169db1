//! Device address space.

use std::collections::BTreeMap;

/// Alignment and granularity of buffers, in bytes.
pub const GRANULE: u64 = 4096;

/// Maps device addresses to host memory.
pub struct Addresses {
    next: u64,
    /// Length and host address of each bound buffer, by device address.
    pub bound: BTreeMap<u64, (u64, u64)>,
}

impl Default for Addresses {
    fn default() -> Self {
        // The start differs in every process, as with randomised address spaces.
        let place = u64::from(std::process::id()) & 0xFFFF;
        Self {
            next: 0x0001_0000_0000_0000 + (place << 30),
            bound: BTreeMap::new(),
        }
    }
}

impl Addresses {
    /// Whether a range of addresses is free.
    pub fn is_free(&self, address: u64, size: u64) -> bool {
        let before = self.bound.range(..address + size).next_back();
        before.is_none_or(|(start, (length, _))| start + length <= address)
    }

    /// Chooses the address of a buffer: `requested`, or any free one if that is 0. Returns `None` if the range is occupied.
    pub fn place(&mut self, requested: u64, size: u64) -> Option<u64> {
        let size = size.next_multiple_of(GRANULE);
        let mut address = requested;
        while requested == 0 && !(address != 0 && self.is_free(address, size)) {
            // Leaves an unmapped page between any two buffers.
            self.next += size + GRANULE;
            address = self.next - size;
        }
        self.is_free(address, size).then_some(address)
    }

    /// Host memory of the buffer that starts at a device address.
    pub fn host(&self, address: u64) -> Option<*mut u8> {
        self.bound
            .get(&address)
            .filter(|bound| bound.1 != 0)
            .map(|bound| bound.1 as *mut u8)
    }

    /// Host memory at a device address in a buffer.
    pub fn host_inside(&self, address: u64) -> Option<*mut u8> {
        let (start, (length, host)) = self.bound.range(..=address).next_back()?;
        let offset = address - start;
        (*host != 0 && offset < *length).then(|| (host + offset) as *mut u8)
    }
}
