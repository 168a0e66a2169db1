//! Edits of a module, keyed by word offset.

pub mod abort_flag;
pub mod abort_values;
pub mod address_words;
pub mod annotations;
mod declarations;
pub mod emitter;
pub mod float_bounds;
mod ids;
pub mod local_variable;
pub mod loop_header;
pub mod opaque_true;
pub mod origins;
pub mod phi;
pub mod physical_addressing;
pub mod placeholder;
pub mod planted_aborts;
pub mod recompute;
pub mod rematerialize_handles;
pub mod runtime_hooks;
mod scalar_words;
mod structured;

use crate::error::{Error, ErrorKind, Result};
use crate::words::{BOUND, MAX_BOUND, inst_at};
use crate::{Code, Id, Inst, Operands};
pub use ids::Ids;
use origins::{Origins, OriginsBuilder};
use std::ops::Range;

/// Order of edits at the same offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
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

    fn words<'p>(&self, pool: &'p Code) -> &'p [u32] {
        pool.words.get(self.start() as usize..self.end as usize).unwrap_or(&[])
    }

    /// Adds the origins of the inserted instructions, which begin at `start` in the new module.
    fn write_origins(&self, pool: &Code, start: usize, origins: &mut OriginsBuilder<'_>) {
        let first = self.start() as usize;
        let replaced = (self.remove != 0).then(|| self.at() as u32);
        let mut done = first;
        for (at, origin) in pool.origins(first, self.end as usize) {
            let at = *at as usize;
            if at > done {
                origins.insert(start + done - first, replaced);
            }
            origins.insert(start + at - first, Some(*origin));
            done = at + inst_at(&pool.words, at).map_or(1, |inst| inst.words.len());
        }
        if done < self.end as usize {
            origins.insert(start + done - first, replaced);
        }
    }
}

/// Changes to a module, in any order.
#[derive(Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
    pool: Code,
    /// The new id bound, 0 if no ids were added.
    bound: u32,
}

impl Edits {
    /// With room for `words` inserted words: growth would copy them.
    pub fn with_room(words: usize) -> Self {
        Self {
            edits: Vec::with_capacity(64),
            pool: Code::with_room(words),
            bound: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Raises the module's bound to cover the ids that a pass has taken.
    pub fn take_ids(&mut self, ids: &Ids) {
        self.bound = self.bound.max(ids.bound());
    }

    /// Inserts code before the instruction at `at`, or before its replacement.
    pub fn insert(&mut self, at: usize, code: &Code) {
        self.insert_ranked(at, Rank::Insertion, code);
    }

    /// Inserts code at `at`, among other edits there by rank.
    pub fn insert_ranked(&mut self, at: usize, rank: Rank, code: &Code) {
        if !code.words.is_empty() {
            self.push(at, rank, 0, |pool| pool.append(code));
        }
    }

    /// Removes `count` words at `at`. Removed ranges may nest or repeat; they must not be inserted into.
    pub fn remove(&mut self, at: usize, count: usize) {
        self.push(at, Rank::Replacement, count, |_| ());
    }

    /// Removes an instruction.
    pub fn remove_inst(&mut self, inst: &Inst<'_>) {
        self.remove(inst.offset, inst.words.len());
    }

    /// Replaces an instruction.
    pub fn replace_inst(&mut self, inst: &Inst<'_>, code: &Code) {
        self.push(inst.offset, Rank::Replacement, inst.words.len(), |pool| {
            pool.append(code)
        });
    }

    /// Replaces an instruction by another one.
    pub fn replace_by(&mut self, inst: &Inst<'_>, opcode: u16, operands: impl Operands) {
        let write = |pool: &mut Code| pool.op(opcode, operands);
        self.push(inst.offset, Rank::Replacement, inst.words.len(), write);
    }

    /// Passes the ids of an instruction, the result included, through `map`.
    pub fn map_ids(&mut self, inst: &Inst<'_>, selector_words: usize, map: impl Fn(Id) -> Id) {
        let write = |pool: &mut Code| pool.copy_mapped(inst, selector_words, map);
        self.push(inst.offset, Rank::Replacement, inst.words.len(), write);
    }

    /// All inserted words: whole instructions, in no particular order.
    pub fn inserted(&self) -> &[u32] {
        &self.pool.words
    }

    /// Number of words that the module has more behind a word offset.
    pub fn growth_from(&self, offset: usize) -> usize {
        let behind = self.edits.iter().filter(|edit| edit.at() >= offset);
        let (added, removed) = behind.fold((0, 0), |(added, removed), edit| {
            (added + edit.words(&self.pool).len(), removed + edit.remove as usize)
        });
        added.saturating_sub(removed)
    }

    /// Removed and replaced ranges in words, sorted by start. They may overlap.
    pub fn removed(&self) -> Vec<Range<u32>> {
        let ranges = self.edits.iter().filter(|edit| edit.remove != 0);
        let mut ranges: Vec<Range<u32>> = ranges.map(|edit| edit.at() as u32..edit.until() as u32).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges
    }

    fn push(&mut self, at: usize, rank: Rank, remove: usize, write: impl FnOnce(&mut Code)) {
        let start = self.pool.words.len() as u32;
        write(&mut self.pool);
        self.edits.push(Edit {
            key: Edit::key(at, rank, start),
            remove: remove as u32,
            end: self.pool.words.len() as u32,
        });
    }

    /// Makes the edits: returns the new module and the origins of its instructions, from those of `words`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Limit`] if the id bound exceeds [`MAX_BOUND`].
    pub fn apply(mut self, words: &[u32], origins: &Origins, pass: &'static str) -> Result<(Vec<u32>, Origins)> {
        self.check_bound(pass)?;
        let mut origins = OriginsBuilder::new(origins, self.edits.len());
        self.edits.sort_unstable_by_key(|edit| edit.key);
        let mut out = Vec::with_capacity(self.edited_length(words.len()));
        let mut done = 0;
        for edit in &self.edits {
            if edit.at() > done {
                origins.keep(out.len(), done, edit.at());
                out.extend_from_slice(words.get(done..edit.at()).unwrap_or(&[]));
                done = edit.at();
            }
            edit.write_origins(&self.pool, out.len(), &mut origins);
            out.extend_from_slice(edit.words(&self.pool));
            done = done.max(edit.until());
        }
        origins.keep(out.len(), done, words.len());
        out.extend_from_slice(words.get(done..).unwrap_or(&[]));
        if let Some(word) = out.get_mut(BOUND) {
            *word = self.bound.max(*word);
        }
        Ok((out, origins.finish()))
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
mod tests;
