//! Shader binaries that applications have read: which memory for messages their code writes to.
//!
//! The address is the same in every run, but devices that are alive side by side have different ones. A binary that moves
//! from one of them to another would write to the first one's memory.

use crate::locks::lock;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Mutex;
use vkabort_instrument::Arena;

/// Arenas by the hash of a binary. Only binaries of shaders with aborts are here.
#[derive(Default)]
pub struct Binaries(Mutex<HashMap<u64, Arena>>);

/// Binaries that are remembered; an application that reads more gets no protection for those.
const MOST: usize = 1 << 16;

fn hash(binary: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(binary);
    hasher.finish()
}

impl Binaries {
    /// Remembers a binary whose code writes to this arena.
    pub fn add(&self, binary: &[u8], arena: Arena) {
        let hash = hash(binary);
        let mut known = lock(&self.0);
        if known.len() < MOST || known.contains_key(&hash) {
            known.insert(hash, arena);
        }
    }

    /// Whether the code of a binary is known to write to another arena.
    pub fn belongs_elsewhere(&self, binary: &[u8], arena: Arena) -> bool {
        // Hashing costs more than the look whether there is anything to find.
        !lock(&self.0).is_empty() && lock(&self.0).get(&hash(binary)).is_some_and(|known| *known != arena)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_belongs_where_it_was_read() {
        let binaries = Binaries::default();
        let [one, two] = [1, 2].map(|address| Arena::at(address << 16, 1 << 16));
        assert!(!binaries.belongs_elsewhere(b"code", one));
        binaries.add(b"code", one);
        assert!(!binaries.belongs_elsewhere(b"code", one));
        assert!(binaries.belongs_elsewhere(b"code", two));
        assert!(!binaries.belongs_elsewhere(b"other", two));
        // The same binary read from a device that has the place now.
        binaries.add(b"code", two);
        assert!(!binaries.belongs_elsewhere(b"code", two));
        // The same place, with another control block.
        assert!(binaries.belongs_elsewhere(b"code", two.with_control(64)));
    }
}
