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

    /// Whether the code of a binary writes to another arena. `false` for binaries that were never added.
    pub fn has_other_arena(&self, binary: &[u8], arena: Arena) -> bool {
        // The first check avoids hashing the binary in most programs.
        !lock(&self.0).is_empty() && lock(&self.0).get(&hash(binary)).is_some_and(|other| *other != arena)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_has_the_arena_of_the_device_that_it_was_read_from() {
        let binaries = Binaries::default();
        let [one, two] = [1, 2].map(|address| Arena::at(address << 16, 1 << 16));
        assert!(!binaries.has_other_arena(b"code", one));
        binaries.add(b"code", one);
        assert!(!binaries.has_other_arena(b"code", one));
        assert!(binaries.has_other_arena(b"code", two));
        assert!(!binaries.has_other_arena(b"other", two));
        // A later device has the second address: the same binary is read from it.
        binaries.add(b"code", two);
        assert!(!binaries.has_other_arena(b"code", two));
        // The same arena with another control block.
        assert!(binaries.has_other_arena(b"code", two.with_control(64)));
    }
}
