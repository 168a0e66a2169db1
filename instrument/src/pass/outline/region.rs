//! The continue constructs of a function that have to become functions.

use super::in_place::can_stay;
use crate::analysis::exit_plan::ExitPlan;
use crate::analysis::index::typed::{BlockIndex, FunctionIndex};
use crate::analysis::index::{Block, Function, Index};
use crate::analysis::loops;
use crate::spv::Id;
use rustc_hash::FxHashSet as HashSet;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The pass that errors name.
pub(super) const PASS: &str = "outline";

/// A continue construct in which an invocation may abort.
pub(super) struct Region {
    /// Label of the loop header, the target of the back edge.
    pub(super) header: Id,
    /// Label of the merge block.
    pub(super) merge: Id,
    /// Label of the continue target, the only entry.
    pub(super) target: Id,
    /// Indices into [`Index::blocks`].
    pub(super) blocks: BTreeSet<BlockIndex>,
}

impl Region {
    /// Whether a block has an edge out of the region.
    pub(super) fn is_left_by(&self, index: &Index<'_>, block: &Block) -> bool {
        let successors = index.successors(block);
        successors.contains(&self.header) || successors.contains(&self.merge)
    }
}

/// The continue constructs of a function in which an invocation may abort, except those that can stay in place.
pub(super) fn find_regions(
    index: &Index<'_>,
    plan: &ExitPlan,
    number: FunctionIndex,
    function: &Function,
    outlined: &HashSet<Id>,
) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    for header in index.blocks_of(function) {
        let Some((merge, target)) = loops::loop_merge(index, header) else {
            continue;
        };
        let blocks = loops::continue_blocks(index, function, header.label, merge, target);
        let may_abort = blocks.iter().any(|b| plan.may_abort(index, number, *b));
        if may_abort && target != header.label && !can_stay(index, plan, number, header.label, &blocks, outlined) {
            regions.push(Region {
                header: header.label,
                merge,
                target,
                blocks,
            });
        }
    }
    regions
}

/// The regions that no other region encloses, in their order. Regions overlap without nesting only in invalid modules:
/// then the smaller one waits for the next round. O(blocks), however many regions there are.
pub(super) fn keep_outermost(regions: Vec<Region>) -> Vec<Region> {
    if regions.len() < 2 {
        return regions;
    }
    let mut by_size: Vec<usize> = (0..regions.len()).collect();
    by_size.sort_by_key(|r| Reverse(regions.get(*r).map_or(0, |r| r.blocks.len())));
    let mut taken: HashSet<BlockIndex> = HashSet::default();
    let mut kept = HashSet::default();
    for number in by_size {
        let Some(region) = regions.get(number) else { continue };
        if !region.blocks.iter().any(|b| taken.contains(b)) {
            taken.extend(&region.blocks);
            kept.insert(region.header);
        }
    }
    regions.into_iter().filter(|r| kept.contains(&r.header)).collect()
}
