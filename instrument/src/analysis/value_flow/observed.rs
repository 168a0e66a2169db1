//! Whether every path from a value has an effect of it.

use super::ValueFlow;
use super::fate::{Fate, Part};
use super::lane::{Lane, Path};
use super::memory::{Access, AccessKind, in_block};
use super::uses::Use;
use crate::analysis::index::typed::BlockIndex;
use crate::spv::op;
use std::collections::BTreeSet;

/// Limit on values that are derived from each other. A longer chain counts as one with an effect.
const MAX_DEPTH: u32 = 100;

impl ValueFlow<'_, '_> {
    /// Whether a part of a value has an effect on every path from its definition on.
    pub(super) fn is_observed(&mut self, lane: &Lane, depth: u32) -> bool {
        if let Some(found) = self.values.get(lane) {
            return *found;
        }
        let Some(block) = self.index.def(lane.id).and_then(|def| self.block_at(def.offset)) else {
            return false;
        };
        if depth > MAX_DEPTH {
            return true;
        }
        // A value that a loop leads back to itself has the effects that it has elsewhere.
        self.values.insert(lane.clone(), true);
        let uses = self.uses.of(lane.id);
        let is_observed = self.always(&[block], Some(block), |flow, number| {
            let here = uses.iter().filter(|at| at.block == number);
            here.copied().any(|at| flow.has_effect(lane, &at, depth))
        });
        self.values.insert(lane.clone(), is_observed);
        is_observed
    }

    /// Whether a use certainly leads to an effect.
    fn has_effect(&mut self, lane: &Lane, at: &Use, depth: u32) -> bool {
        match self.fate(lane, at) {
            Fate::Effect => true,
            Fate::Result(lanes, conditions) => {
                conditions.is_empty() && lanes.iter().any(|lane| self.is_observed(lane, depth + 1))
            }
            Fate::Phi(lane) => self.next(at.block).len() == 1 && self.is_observed(&lane, depth + 1),
            Fate::Local(part) => self.is_stored_observed(&part, at, depth + 1),
        }
    }

    /// Whether every path from a store loads the stored part, with an effect, before another store replaces it.
    pub(super) fn is_stored_observed(&mut self, part: &Part, store: &Use, depth: u32) -> bool {
        let path = &part.path;
        let key = (store.offset, path.clone());
        if let Some(found) = self.stores.get(&key) {
            return *found;
        }
        if depth > MAX_DEPTH {
            return true;
        }
        self.stores.insert(key.clone(), true);
        let accesses = self.memory.accesses(part.variable);
        let here = in_block(&accesses, store.block).iter();
        let is_observed = match self.first(here.filter(|access| access.offset > store.offset), path, depth) {
            Some(is_loaded) => is_loaded,
            None => {
                let next = self.next(store.block);
                !next.is_empty() && self.is_always_loaded(&accesses, path, &next, depth)
            }
        };
        self.stores.insert(key, is_observed);
        is_observed
    }

    /// Whether every path from the start of blocks loads a part of a variable, with an effect, before a store replaces it.
    pub(super) fn is_always_loaded(
        &mut self,
        accesses: &[Access],
        path: &Path,
        from: &[BlockIndex],
        depth: u32,
    ) -> bool {
        let mut replaced = false;
        let always = self.always(from, None, |flow, number| {
            // After one path that fails, the others need no answer.
            if replaced {
                return true;
            }
            match flow.first(in_block(accesses, number).iter(), path, depth) {
                Some(is_loaded) => {
                    replaced |= !is_loaded;
                    true
                }
                None => false,
            }
        });
        always && !replaced
    }

    /// Whether the first of the accesses that concern a part of their variable is a load with an effect. `None` if there is none.
    fn first<'c>(&mut self, accesses: impl Iterator<Item = &'c Access>, path: &Path, depth: u32) -> Option<bool> {
        for access in accesses {
            let Some(path) = access.below(path) else { continue };
            match access.kind {
                AccessKind::Other => return Some(true),
                AccessKind::Store(_) => return Some(false),
                AccessKind::Load(id) => {
                    if self.is_observed(&Lane { id, path }, depth + 1) {
                        return Some(true);
                    }
                }
            }
        }
        None
    }

    /// Whether every path from blocks comes to one for which `is_end`, and before it not to the block `defined_in` again.
    fn always(
        &mut self,
        from: &[BlockIndex],
        defined_in: Option<BlockIndex>,
        mut is_end: impl FnMut(&mut Self, BlockIndex) -> bool,
    ) -> bool {
        let mut seen: BTreeSet<BlockIndex> = from.iter().copied().collect();
        let mut worklist = from.to_vec();
        while let Some(block) = worklist.pop() {
            let Some(left) = self.steps.checked_sub(1) else {
                return false;
            };
            self.steps = left;
            if is_end(self, block) {
                continue;
            }
            let next = self.next(block);
            let terminator = self.index.blocks.get(block).map(|block| self.index.terminator(block));
            let is_unreachable = terminator.is_some_and(|inst| inst.opcode() == op::Unreachable);
            if next.is_empty() && !is_unreachable || next.iter().any(|to| Some(*to) == defined_in) {
                return false;
            }
            worklist.extend(next.into_iter().filter(|to| seen.insert(*to)));
        }
        true
    }
}
