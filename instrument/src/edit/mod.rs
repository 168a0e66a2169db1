//! Edits keyed by offset, and the module that they make.

pub(crate) mod code;
pub(crate) mod globals;

use crate::error::{Error, ErrorKind, Result};
use crate::spv::Id;
use crate::spv::words::{BOUND, MAX_BOUND};
pub(crate) use code::Code;

/// Fresh result ids, upwards from a module's bound.
#[derive(Debug)]
pub(crate) struct Ids {
    next: Id,
}

impl Ids {
    pub(crate) fn new(bound: u32) -> Self {
        Self { next: bound }
    }

    /// A new id. Past the limit on ids this still gives distinct numbers; [`Edits::apply`] then reports the overflow.
    pub(crate) fn fresh(&mut self) -> Id {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        id
    }
}

/// What comes first among edits at the same offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Variables of a function, before all else in it.
    Variables,
    /// What runs first in an entry point.
    Entry,
    /// Other insertions, in the order in which they were made.
    Insertion,
    /// What takes the place of the instruction at the offset.
    Replacement,
}

#[derive(Clone, Copy, Debug)]
struct Edit {
    at: usize,
    rank: Rank,
    remove: usize,
    start: usize,
    end: usize,
}

/// Changes to a module, in any order.
#[derive(Debug)]
pub(crate) struct Edits {
    edits: Vec<Edit>,
    pool: Vec<u32>,
    /// The new bound, if ids were added.
    bound: u32,
}

impl Default for Edits {
    /// Room for a small rewrite: most are.
    fn default() -> Self {
        Self {
            edits: Vec::with_capacity(64),
            pool: Vec::with_capacity(1024),
            bound: 0,
        }
    }
}

impl Edits {
    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Raises the module's bound to cover the ids that a pass has taken.
    pub(crate) fn take_ids(&mut self, ids: &Ids) {
        self.bound = self.bound.max(ids.next);
    }

    /// Inserts words before the instruction at `at`, or before what replaces it.
    pub(crate) fn insert(&mut self, at: usize, words: &[u32]) {
        self.insert_ranked(at, Rank::Insertion, words);
    }

    /// Inserts words at `at`, among other edits there by rank.
    pub(crate) fn insert_ranked(&mut self, at: usize, rank: Rank, words: &[u32]) {
        if !words.is_empty() {
            self.push(at, rank, 0, words);
        }
    }

    /// Removes `count` words at `at`.
    pub(crate) fn remove(&mut self, at: usize, count: usize) {
        self.replace(at, count, &[]);
    }

    /// Replaces `count` words at `at`. Removed ranges may nest or repeat; they must not be inserted into.
    pub(crate) fn replace(&mut self, at: usize, count: usize, words: &[u32]) {
        self.push(at, Rank::Replacement, count, words);
    }

    fn push(&mut self, at: usize, rank: Rank, remove: usize, words: &[u32]) {
        let start = self.pool.len();
        self.pool.extend_from_slice(words);
        self.edits.push(Edit {
            at,
            rank,
            remove,
            start,
            end: self.pool.len(),
        });
    }

    /// The module with all edits made.
    pub(crate) fn apply(mut self, words: &[u32], pass: &'static str) -> Result<Vec<u32>> {
        if self.bound > MAX_BOUND {
            return Err(Error::new(
                ErrorKind::Limit,
                pass,
                None,
                format!(
                    "the rewrite needs ids beyond the limit of {MAX_BOUND}; compact the ids (spirv-opt --compact-ids)"
                ),
            ));
        }
        self.edits.sort_by_key(|e| (e.at, e.rank));
        let mut out = Vec::with_capacity(words.len() + self.pool.len());
        let mut done = 0;
        for edit in &self.edits {
            if edit.at > done {
                out.extend_from_slice(words.get(done..edit.at).unwrap_or(&[]));
                done = edit.at;
            }
            out.extend_from_slice(self.pool.get(edit.start..edit.end).unwrap_or(&[]));
            done = done.max(edit.at + edit.remove);
        }
        out.extend_from_slice(words.get(done..).unwrap_or(&[]));
        if let Some(word) = out.get_mut(BOUND) {
            *word = self.bound.max(*word);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ids(ids: &Ids) -> Edits {
        let mut edits = Edits::default();
        edits.take_ids(ids);
        edits
    }

    #[test]
    fn edits_take_effect_by_offset_then_rank_then_order() {
        let words = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut edits = with_ids(&Ids::new(9));
        edits.replace(6, 1, &[62]);
        edits.insert(6, &[60]);
        edits.remove(4, 2);
        edits.insert(8, &[80]);
        edits.insert(6, &[61]);
        edits.insert_ranked(6, Rank::Variables, &[59]);
        let out = edits.apply(&words, "test").expect("few ids");
        assert_eq!(out, [0, 1, 2, 9, 59, 60, 61, 62, 7, 80]);
    }

    #[test]
    fn ids_beyond_the_limit_are_an_error_and_not_an_overflow() {
        let mut ids = Ids::new(MAX_BOUND);
        ids.fresh();
        let error = with_ids(&ids).apply(&[0; 5], "test").expect_err("one too many");
        assert_eq!(error.kind, ErrorKind::Limit);
        let mut ids = Ids::new(u32::MAX);
        ids.fresh();
        assert_eq!(ids.fresh(), u32::MAX);
    }
}
