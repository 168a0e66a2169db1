//! Shader binaries that an application has read, and the arena that their code writes to.
//!
//! The arena's address is the same in every run, but differs between devices that exist at the same time. A binary that
//! moves from one such device to another would write to the first device's memory.

use crate::locks::lock;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Mutex;
use vkabort_instrument::Arena;

/// Arenas by hash of the binary. Contains binaries of shaders with aborts only.
#[derive(Default)]
pub struct Binaries(Mutex<HashMap<u64, Arena>>);

/// Entries at most. Binaries beyond them are not checked.
const MAX_BINARIES: usize = 1 << 16;

fn hash(binary: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(binary);
    hasher.finish()
}

impl Binaries {
    /// Adds a binary whose code writes to `arena`.
    pub fn add(&self, binary: &[u8], arena: Arena) {
        let hash = hash(binary);
        let mut arenas = lock(&self.0);
        if arenas.len() < MAX_BINARIES || arenas.contains_key(&hash) {
            arenas.insert(hash, arena);
        }
    }

    /// The arena that the code of a binary writes to. `None` for binaries that were never added.
    pub fn arena_of(&self, binary: &[u8]) -> Option<Arena> {
        let arenas = lock(&self.0);
        // The first check avoids hashing the binary in most programs.
        let key = (!arenas.is_empty()).then(|| hash(binary))?;
        arenas.get(&key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_has_the_arena_of_the_device_that_it_was_read_from() {
        let binaries = Binaries::default();
        let [one, two] = [1, 2].map(|address| Arena::at(address << 16, 1 << 16));
        assert_eq!(binaries.arena_of(b"code"), None);
        binaries.add(b"code", one);
        assert_eq!(binaries.arena_of(b"code"), Some(one));
        assert_eq!(binaries.arena_of(b"other"), None);
        // A later device has the second address: the same binary is read from it.
        binaries.add(b"code", two);
        assert_eq!(binaries.arena_of(b"code"), Some(two));
    }
}
