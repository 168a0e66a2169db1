//! The continue constructs of a function that have to become functions.

use rustc_hash::FxHashSet as HashSet;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use vkabort_analysis::exit_plan::ExitPlan;
use vkabort_spirv::error::{Error, ErrorKind, Result};
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex};
use vkabort_spirv::index::{Block, Decoration, Function, Index};
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::op_sets::is_total;
use vkabort_spirv::{Id, Inst, op};

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

/// The blocks of a region.
pub(super) struct RegionBlocks {
    /// In their order in the new function: the continue target first, then module order.
    pub(super) ordered: Vec<Block>,
    /// The continue target.
    pub(super) first: Block,
    /// The back-edge block.
    pub(super) last: Block,
}

impl Region {
    /// Whether a block has an edge out of the region.
    pub(super) fn is_left_by(&self, index: &Index<'_>, block: &Block) -> bool {
        let successors = index.successors(block);
        successors.contains(&self.header) || successors.contains(&self.merge)
    }

    /// Whether a block of the region branches to the header.
    pub(super) fn has_back_edge(&self, index: &Index<'_>) -> bool {
        let mut blocks = self.blocks.iter().filter_map(|block| index.blocks.get(*block));
        blocks.any(|block| index.successors(block).contains(&self.header))
    }

    /// Orders the blocks of the region. The continue target dominates every reachable one: with it first, module order is a
    /// valid order.
    ///
    /// # Errors
    ///
    /// The continue target is not a block of the function, or not exactly one block leaves the region.
    pub(super) fn order_blocks(&self, index: &Index<'_>) -> Result<RegionBlocks> {
        let invalid = |message: &str| Err(self.error(index, ErrorKind::Invalid, message));
        let blocks = self.blocks.iter().filter_map(|b| index.blocks.get(*b));
        let mut ordered: Vec<Block> = blocks.copied().collect();
        ordered.sort_by_key(|b| b.label != self.target);
        let Some(first) = ordered.first().copied().filter(|b| b.label == self.target) else {
            return invalid("a continue target is not a block of its function");
        };
        let mut leaving = ordered.iter().filter(|b| self.is_left_by(index, b));
        let last = match (leaving.next(), leaving.next()) {
            (Some(last), None) => *last,
            (None, _) => return invalid("a continue construct has no back edge"),
            (Some(_), Some(_)) => return invalid("more than one block leaves a continue construct"),
        };
        Ok(RegionBlocks { ordered, first, last })
    }

    /// An error at the continue target.
    pub(super) fn error(&self, index: &Index<'_>, kind: ErrorKind, message: impl Into<String>) -> Error {
        let offset = index.def(self.target).map(|i| i.offset as u32);
        Error::new(kind, PASS, offset, message)
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
        let Some((merge, target)) = index.loop_merge(header) else {
            continue;
        };
        let blocks = index.continue_blocks(function, header.label, merge, target);
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

/// Whether the continue construct with `blocks`, of the loop with header `header`, can stay in place. `outlined` holds the
/// functions made by earlier rounds.
///
/// A construct of one block stays if an invocation that aborts in a call of it can run on to the back edge: what follows
/// the call has no visible effect, and no undefined behaviour for the placeholder that the call returns. `unwind` then takes
/// the back edge. A region that was outlined leaves such a block behind.
fn can_stay(
    index: &Index<'_>,
    plan: &ExitPlan,
    function: FunctionIndex,
    header: Id,
    blocks: &BTreeSet<BlockIndex>,
    outlined: &HashSet<Id>,
) -> bool {
    let mut blocks = blocks.iter();
    let (Some(number), None) = (blocks.next(), blocks.next()) else {
        return false;
    };
    let Some(block) = index.blocks.get(*number).filter(|_| !plan.polled(*number)) else {
        return false;
    };
    // Always true in a valid module. In others, many headers may name the same block as their continue target.
    if !index.successors(block).contains(&header) {
        return false;
    }
    let checked = plan.checked_calls(index, function, *number);
    let mut calls = checked.iter().filter_map(|call| index.calls.get(*call));
    if calls.clone().all(|call| outlined.contains(&call.callee)) {
        return true;
    }
    let (Some(call), None) = (calls.next(), calls.next()) else {
        return false;
    };
    let after = index.inst(call.offset).end();
    index
        .insts(after, block.terminator)
        .all(|inst| is_harmless(index, &inst))
}

/// Whether an instruction is total, and not decorated to be undefined on overflow or NaN, or accesses a variable of the
/// invocation.
fn is_harmless(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    let is_own_variable = |pointer| {
        let variable = index.def(pointer).filter(|def| def.opcode() == op::Variable);
        let class = variable.map(|def| def.storage_class());
        matches!(class, Some(storage_class::Function | storage_class::Private))
    };
    match inst.opcode() {
        op::Load | op::Store => is_own_variable(inst.pointer()),
        opcode => {
            let restricts_operands = |d: &Decoration| {
                matches!(
                    d.kind,
                    decoration::NoSignedWrap | decoration::NoUnsignedWrap | decoration::FPFastMathMode
                )
            };
            is_total(opcode) && !index.decorations_of(inst.result()).any(restricts_operands)
                || index.is_debug_info(inst)
        }
    }
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
