//! Whether every path from a value has an effect of it.

use super::ValueFlow;
use super::answers::Question;
use super::fate::{Fate, Part};
use super::lane::{Lane, Path};
use super::memory::{Access, AccessKind, in_block};
use super::uses::Use;
use crate::analysis::index::typed::BlockIndex;
use crate::spv::op;
use std::collections::BTreeSet;

impl ValueFlow<'_, '_> {
    /// The answer to a question, by `search` if it is new.
    fn answer(&mut self, question: Question, depth: u32, search: impl FnOnce(&mut Self) -> bool) -> bool {
        if let Some(answer) = self.answers.get(&question, depth) {
            return answer;
        }
        let state = self.answers.assume(question.clone());
        let is_observed = search(self);
        if !is_observed {
            self.answers.refute(question, depth, state);
        }
        is_observed
    }

    /// Whether a part of a value has an effect on every path from its definition on.
    pub(super) fn is_observed(&mut self, lane: &Lane, depth: u32) -> bool {
        let Some(block) = self.index.def(lane.id).and_then(|def| self.block_at(def.offset)) else {
            return false;
        };
        self.answer(Question::Value(lane.clone()), depth, |flow| {
            let uses = flow.uses.of(lane.id);
            let has_effect = |flow: &mut Self, number| {
                let here = uses.iter().filter(|at| at.block == number);
                here.copied().any(|at| flow.has_effect(lane, &at, depth))
            };
            let is_taken = |flow: &mut Self, number, to| {
                let here = uses.iter().filter(|at| at.block == number);
                here.copied().any(|at| flow.is_taken(lane, &at, to, depth))
            };
            flow.always(&[block], Some(block), has_effect, is_taken)
        })
    }

    /// Whether a use in a block certainly leads to an effect.
    fn has_effect(&mut self, lane: &Lane, at: &Use, depth: u32) -> bool {
        match self.fate(lane, at) {
            Fate::Effect => true,
            Fate::Result(lanes, conditions) => {
                conditions.is_empty() && lanes.iter().any(|lane| self.is_observed(lane, depth + 1))
            }
            Fate::Phi(_) => false,
            Fate::Local(part) => self.is_stored_observed(&part, at, depth + 1),
        }
    }

    /// Whether a use is a phi of the block `to`, and certainly leads to an effect.
    fn is_taken(&mut self, lane: &Lane, at: &Use, to: BlockIndex, depth: u32) -> bool {
        self.block_at(at.offset) == Some(to)
            && match self.fate(lane, at) {
                Fate::Phi(phi) => self.is_observed(&phi, depth + 1),
                _ => false,
            }
    }

    /// Whether every path from a store loads the stored part, with an effect, before another store replaces it.
    pub(super) fn is_stored_observed(&mut self, part: &Part, store: &Use, depth: u32) -> bool {
        let path = &part.path;
        self.answer(Question::Store(store.offset, path.clone()), depth, |flow| {
            let accesses = flow.memory.accesses(part.variable);
            let here = in_block(&accesses, store.block).iter();
            match flow.first(here.filter(|access| access.offset > store.offset), path, depth) {
                Some(is_loaded) => is_loaded,
                None => {
                    let next = flow.next(store.block);
                    !next.is_empty() && flow.is_always_loaded(&accesses, path, &next, depth)
                }
            }
        })
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
        let is_end = |flow: &mut Self, number| {
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
        };
        self.always(from, None, is_end, |_, _, _| false) && !replaced
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

    /// Whether every path from blocks comes to one for which `is_end`, or to an edge for which `is_last`, and before it not to the
    /// block `defined_in` again.
    fn always(
        &mut self,
        from: &[BlockIndex],
        defined_in: Option<BlockIndex>,
        mut is_end: impl FnMut(&mut Self, BlockIndex) -> bool,
        mut is_last: impl FnMut(&mut Self, BlockIndex, BlockIndex) -> bool,
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
            if next.is_empty() && !is_unreachable {
                return false;
            }
            for to in next {
                if is_last(self, block, to) {
                    continue;
                }
                if Some(to) == defined_in {
                    return false;
                }
                if seen.insert(to) {
                    worklist.push(to);
                }
            }
        }
        true
    }
}
