//! Edits of a module, keyed by word offset.

pub(crate) mod abort_flag;
pub(crate) mod annotations;
pub(crate) mod globals;
mod ids;
pub(crate) mod phi;
pub(crate) mod physical_addressing;
pub(crate) mod placeholder;

use crate::error::{Error, ErrorKind, Result};
use crate::spv::words::{BOUND, MAX_BOUND};
use crate::spv::{Code, Inst};
pub(crate) use ids::Ids;
use std::ops::Range;

/// Order of edits at the same offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Variables of a function.
    Variables,
    /// Code at the start of an entry point.
    Entry,
    /// Other insertions, in the order of the calls.
    Insertion,
    /// The replacement of the instruction at the offset.
    Replacement,
}

/// One change.
#[derive(Clone, Copy, Debug)]
struct Edit {
    /// Offset (30 bits), rank (2), start of the inserted words in the pool (32): edits take effect in this order, since
    /// earlier edits start earlier in the pool.
    key: u64,
    remove: u32,
    /// End of the inserted words in the pool.
    end: u32,
}

impl Edit {
    fn key(at: usize, rank: Rank, start: u32) -> u64 {
        (at as u64) << 34 | (rank as u64) << 32 | u64::from(start)
    }

    fn at(&self) -> usize {
        (self.key >> 34) as usize
    }

    fn start(&self) -> u32 {
        self.key as u32
    }

    /// Offset after the removed words.
    fn until(&self) -> usize {
        self.at() + self.remove as usize
    }

    fn words<'p>(&self, pool: &'p [u32]) -> &'p [u32] {
        pool.get(self.start() as usize..self.end as usize).unwrap_or(&[])
    }

    /// The same edit of a pool that has `words` words more at its front.
    fn shifted(&self, words: u32) -> Self {
        Self {
            key: self.key + u64::from(words),
            end: self.end + words,
            ..*self
        }
    }
}

/// Changes to a module, in any order.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    edits: Vec<Edit>,
    pool: Vec<u32>,
    /// The new id bound, 0 if no ids were added.
    bound: u32,
}

impl Edits {
    /// With room for `words` inserted words: growth would copy them.
    pub(crate) fn with_room(words: usize) -> Self {
        Self {
            edits: Vec::with_capacity(64),
            pool: Vec::with_capacity(words),
            bound: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Raises the module's bound to cover the ids that a pass has taken.
    pub(crate) fn take_ids(&mut self, ids: &Ids) {
        self.bound = self.bound.max(ids.bound());
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

    /// Removes an instruction.
    pub(crate) fn remove_inst(&mut self, inst: &Inst<'_>) {
        self.remove(inst.offset, inst.words.len());
    }

    /// Replaces an instruction.
    pub(crate) fn replace_inst(&mut self, inst: &Inst<'_>, code: &Code) {
        self.replace(inst.offset, inst.words.len(), &code.words);
    }

    /// Adds other edits.
    pub(crate) fn append(&mut self, other: &Self) {
        let before = self.pool.len() as u32;
        self.pool.extend_from_slice(&other.pool);
        self.edits.extend(other.edits.iter().map(|edit| edit.shifted(before)));
        self.bound = self.bound.max(other.bound);
    }

    /// All inserted words: whole instructions, in no particular order.
    pub(crate) fn inserted(&self) -> &[u32] {
        &self.pool
    }

    /// Removed and replaced ranges in words, sorted by start. They may overlap.
    pub(crate) fn removed(&self) -> Vec<Range<u32>> {
        let ranges = self.edits.iter().filter(|edit| edit.remove != 0);
        let mut ranges: Vec<Range<u32>> = ranges.map(|edit| edit.at() as u32..edit.until() as u32).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges
    }

    fn push(&mut self, at: usize, rank: Rank, remove: usize, words: &[u32]) {
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(words);
        self.edits.push(Edit {
            key: Edit::key(at, rank, start),
            remove: remove as u32,
            end: self.pool.len() as u32,
        });
    }

    /// Makes the edits: returns the new module.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`] if the id bound exceeds [`MAX_BOUND`].
    pub(crate) fn apply(mut self, words: &[u32], pass: &'static str) -> Result<Vec<u32>> {
        self.check_bound(pass)?;
        self.edits.sort_unstable_by_key(|edit| edit.key);
        let mut out = Vec::with_capacity(self.edited_length(words.len()));
        let mut done = 0;
        for edit in &self.edits {
            if edit.at() > done {
                out.extend_from_slice(words.get(done..edit.at()).unwrap_or(&[]));
                done = edit.at();
            }
            out.extend_from_slice(edit.words(&self.pool));
            done = done.max(edit.until());
        }
        out.extend_from_slice(words.get(done..).unwrap_or(&[]));
        if let Some(word) = out.get_mut(BOUND) {
            *word = self.bound.max(*word);
        }
        Ok(out)
    }

    fn check_bound(&self, pass: &'static str) -> Result<()> {
        if self.bound <= MAX_BOUND {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Limit,
            pass,
            None,
            format!("the rewrite needs ids beyond the limit of {MAX_BOUND}; compact the ids (spirv-opt --compact-ids)"),
        ))
    }

    /// Words of a module of `length` words once the edits are made. The edits are sorted.
    fn edited_length(&self, length: usize) -> usize {
        let (mut done, mut to) = (0, 0);
        for edit in &self.edits {
            to += edit.at().saturating_sub(done) + edit.words(&self.pool).len();
            done = done.max(edit.until());
        }
        to + length.saturating_sub(done)
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
        assert_eq!(out.capacity(), out.len());
    }

    #[test]
    fn the_length_of_the_edited_module_is_exact() {
        let words: Vec<u32> = (0..16).collect();
        let check = |expected: &[u32], make: fn(&mut Edits)| {
            let mut edits = Edits::default();
            make(&mut edits);
            let out = edits.apply(&words, "test").expect("few ids");
            assert_eq!(out, expected);
            assert_eq!(out.capacity(), out.len());
        };
        check(
            &[
                0, 1, 20, 21, 22, 3, 4, 50, 53, 54, 51, 52, 7, 8, 9, 10, 11, 12, 13, 14, 15, 160,
            ],
            |edits| {
                edits.replace(2, 1, &[20, 21, 22]);
                edits.insert(5, &[50]);
                edits.replace(5, 2, &[51, 52]);
                edits.insert(5, &[53, 54]);
                edits.insert(16, &[160]);
            },
        );
        check(&[0, 1, 2, 30, 31, 32, 33, 7, 8, 9, 10, 11, 12, 13, 14, 15], |edits| {
            edits.insert(3, &[30]);
            edits.replace(3, 4, &[31, 32, 33]);
            edits.remove(4, 1);
        });
        check(&[0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15], |edits| {
            edits.remove(4, 3)
        });
        check(&[0, 1, 2, 3, 4, 5, 60, 61, 10, 11], |edits| {
            edits.replace(6, 4, &[60, 61]);
            edits.remove(12, 4);
            edits.remove(13, 1);
        });
        check(&[0, 1, 2, 3, 4, 50, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], |edits| {
            edits.insert(5, &[50])
        });
        check(
            &[0, 1, 2, 3, 6, 7, 80, 81, 82, 83, 9, 10, 11, 12, 13, 14, 15],
            |edits| {
                edits.remove(4, 2);
                edits.replace(8, 1, &[80, 81, 82, 83]);
            },
        );
        check(&words, |_| ());
    }

    #[test]
    fn ids_beyond_the_limit_are_an_error_and_not_an_overflow() {
        let mut ids = Ids::new(MAX_BOUND);
        ids.fresh();
        let error = with_ids(&ids).apply(&[0; 5], "test").expect_err("one too many");
        assert_eq!(error.kind, ErrorKind::Limit);
        let mut ids = Ids::new(u32::MAX);
        ids.fresh();
        assert_eq!(ids.fresh().word(), u32::MAX);
    }
}
