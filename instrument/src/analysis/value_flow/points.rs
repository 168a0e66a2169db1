//! The places at which a value has an effect.

use super::fate::{Fate, Part};
use super::lane::Lane;
use super::memory::{Access, AccessKind, in_block};
use super::uses::Use;
use super::{Condition, Point, Test, ValueFlow};
use crate::analysis::index::Block;
use crate::analysis::index::typed::BlockIndex;
use crate::spv::op;
use std::collections::BTreeSet;

/// Limits of the places of one value, of their conditions, and of the values between.
const MAX_POINTS: usize = 4;
const MAX_CONDITIONS: usize = 4;
const MAX_VALUES: usize = 64;

/// A search for the effects of one value.
#[derive(Default)]
struct Search {
    points: BTreeSet<Point>,
    worklist: Vec<(Lane, Vec<Condition>)>,
    seen: Vec<(Lane, Vec<Condition>)>,
}

impl ValueFlow<'_, '_> {
    /// The places at which a part of a value is certain to have an effect, in module order. One place is its definition if every
    /// path from there has an effect of it.
    pub(crate) fn points(&mut self, lane: &Lane) -> Vec<Point> {
        let mut search = Search::default();
        search.worklist.push((lane.clone(), Vec::new()));
        while let Some((lane, conditions)) = search.worklist.pop() {
            if search.points.len() >= MAX_POINTS || search.seen.len() >= MAX_VALUES {
                break;
            }
            if conditions.len() > MAX_CONDITIONS
                || search
                    .seen
                    .iter()
                    .any(|seen| *seen == (lane.clone(), conditions.clone()))
            {
                continue;
            }
            search.seen.push((lane.clone(), conditions.clone()));
            let Some(def) = self.index.def(lane.id) else { continue };
            let Some(block) = self.block_at(def.offset).filter(|block| self.is_reachable(*block)) else {
                continue;
            };
            if self.is_observed(&lane, 0) {
                let offset = def.offset;
                search.points.insert(Point {
                    block,
                    offset,
                    conditions,
                });
                continue;
            }
            for at in self.uses.of(lane.id) {
                self.follow(&mut search, &lane, &at, &conditions);
            }
        }
        let points = search.points.into_iter().map(|point| self.moved_up(lane, point));
        points.collect::<BTreeSet<Point>>().into_iter().collect()
    }

    /// The place of the definition instead of a later one in its block, if the conditions are known there.
    fn moved_up(&self, lane: &Lane, mut point: Point) -> Point {
        let Some(def) = self.index.def(lane.id) else {
            return point;
        };
        let is_known = |condition: &Condition| {
            let value = self.index.def(condition.value);
            value.is_some_and(|value| value.offset < def.offset)
        };
        if self.block_at(def.offset) == Some(point.block) && point.conditions.iter().all(is_known) {
            point.offset = def.offset;
        }
        point
    }

    fn follow(&mut self, search: &mut Search, lane: &Lane, at: &Use, conditions: &[Condition]) {
        let Some(block) = self.index.blocks.get(at.block).filter(|_| self.is_reachable(at.block)) else {
            return;
        };
        let end = end_of(block);
        match self.fate(lane, at) {
            Fate::Effect => {
                search.points.insert(Point {
                    block: at.block,
                    offset: at.offset.min(end),
                    conditions: conditions.to_vec(),
                });
            }
            Fate::Result(lanes, more) => {
                let conditions = [conditions, &more].concat();
                search
                    .worklist
                    .extend(lanes.into_iter().map(|lane| (lane, conditions.clone())));
            }
            Fate::Phi(phi) => {
                let phi_block = self.index.def(phi.id).and_then(|def| self.block_at(def.offset));
                let next = self.next(at.block);
                let edge = match next.as_slice() {
                    [_] => Some(None),
                    _ => phi_block.and_then(|to| self.edge(block, to)).map(Some),
                };
                if let Some(edge) = edge
                    && self.is_observed(&phi, 0)
                    && !edge.is_some_and(|edge| self.depends_on(edge.value, lane.id))
                {
                    search.points.insert(Point {
                        block: at.block,
                        offset: end,
                        conditions: conditions.iter().copied().chain(edge).collect(),
                    });
                }
            }
            Fate::Local(part) => self.follow_store(search, lane, &part, at, conditions),
        }
    }

    fn follow_store(&mut self, search: &mut Search, lane: &Lane, part: &Part, at: &Use, conditions: &[Condition]) {
        if self.is_stored_observed(part, at, 0) {
            search.points.insert(Point {
                block: at.block,
                offset: at.offset,
                conditions: conditions.to_vec(),
            });
            return;
        }
        let accesses = self.memory.accesses(part.variable);
        let concerns = |access: &&Access| access.below(&part.path).is_some();
        let is_later = |access: &&Access| access.offset > at.offset;
        let is_store = |access: &&Access| !matches!(access.kind, AccessKind::Load(_));
        let here = in_block(&accesses, at.block).iter().filter(concerns).filter(is_later);
        let replaced = here.clone().find(is_store);
        let stores = self.memory.stores(part.variable);
        let is_only_store = stores.iter().filter(concerns).take(2).count() == 1;
        let elsewhere = accesses
            .iter()
            .filter(|access| is_only_store && access.block != at.block);
        for access in here.chain(elsewhere.filter(concerns)) {
            if !access.is_exact || !part.is_exact {
                continue;
            }
            let AccessKind::Load(id) = access.kind else { continue };
            let is_here = access.block == at.block;
            let is_next = is_here && replaced.is_none_or(|store| access.offset < store.offset);
            // The value of the only store, which every path to the load passes.
            let is_only = !is_here && self.dominates(at.block, access.block);
            if is_next || is_only {
                let path = access.below(&part.path).unwrap_or_default();
                search.worklist.push((Lane { id, path }, conditions.to_vec()));
            }
        }
        let Some(block) = self.index.blocks.get(at.block).filter(|_| replaced.is_none()) else {
            return;
        };
        for to in self.next(at.block) {
            if self.is_always_loaded(&accesses, &part.path, &[to], 0)
                && let Some(edge) = self.edge(block, to)
                && !self.depends_on(edge.value, lane.id)
            {
                search.points.insert(Point {
                    block: at.block,
                    offset: end_of(block),
                    conditions: conditions.iter().copied().chain([edge]).collect(),
                });
            }
        }
    }

    /// The condition under which the branch of a block leads to the block `to`. `None` if it leads there anyway, or by a switch.
    fn edge(&self, block: &Block, to: BlockIndex) -> Option<Condition> {
        let branch = self.index.terminator(block);
        let label = self.index.blocks.get(to)?.label;
        let is = [branch.true_label(), branch.false_label()].map(|target| target == label);
        let test = match is {
            [true, false] => Test::True,
            [false, true] => Test::False,
            _ => return None,
        };
        (branch.opcode() == op::BranchConditional).then(|| Condition {
            value: branch.condition(),
            component: None,
            test,
        })
    }
}

/// Word offset before the instructions that end a block.
fn end_of(block: &Block) -> usize {
    match block.merge {
        0 => block.terminator,
        merge => merge,
    }
}
