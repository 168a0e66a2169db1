//! Uses of a region's ids by the rest of its function, and the blocks that branches from its first block reach.
//!
//! Unreachable blocks, and phi operands for edges from them, may use values that do not dominate the use. Such a use is
//! never executed, so across the border of a region it gets an undefined value.

use super::region::Region;
use rustc_hash::FxHashSet as HashSet;
use vkabort_spirv::edit::phi::predecessor;
use vkabort_spirv::index::typed::{BlockIndex, Run};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, Inst, op, operands};

/// Uses outside a region of ids that the region defines. The terminator of the back-edge block is outside.
#[derive(Default)]
pub(super) struct OutsideUses<'w> {
    /// Used ids, once for each use that can be evaluated.
    pub(super) values: Vec<Id>,
    /// Ids used only by unreachable code, which still need a definition.
    pub(super) unreachable: Vec<Id>,
    /// Debug instructions, each with an id that it uses.
    pub(super) debug: Vec<(Inst<'w>, Id)>,
    /// Offset of a terminator outside that branches into the middle of the region. Its block is unreachable in valid
    /// modules.
    pub(super) side_entry: Option<usize>,
}

/// The outside uses of each region of a function, collected in one walk over the function. The regions are disjoint.
pub(super) fn collect_outside_uses<'w>(
    index: &Index<'w>,
    function: &Function,
    regions: &[Region],
    reachable: &ReachableBlocks,
) -> Vec<OutsideUses<'w>> {
    let mut uses: Vec<OutsideUses<'w>> = Vec::new();
    uses.resize_with(regions.len(), OutsideUses::default);
    // By block of the function: its region.
    let mut owners: Vec<Option<usize>> = vec![None; function.blocks.count()];
    for (number, region) in regions.iter().enumerate() {
        for block in &region.blocks {
            if let Some(owner) = function.blocks.offset_of(*block).and_then(|at| owners.get_mut(at)) {
                *owner = Some(number);
            }
        }
    }
    let owner_of = |block| owners.get(function.blocks.offset_of(block)?).copied().flatten();
    let targets: HashSet<Id> = regions.iter().map(|region| region.target).collect();
    let is_inner_label = |id: Id| index.opcode(id) == op::Label && !targets.contains(&id);
    for number in function.blocks.iter() {
        let Some(block) = index.blocks.get(number) else {
            continue;
        };
        let owner = owner_of(number);
        let exit = owner
            .and_then(|r| regions.get(r))
            .filter(|region| region.is_left_by(index, block))
            .map_or(0, |_| block.terminator);
        for inst in index.insts(block.offset, block.end).skip(1) {
            let user = owner.filter(|_| inst.offset != exit);
            let is_debug = index.is_debug_info(&inst);
            if is_debug && user.is_some() {
                continue;
            }
            operands::visit_ids(&inst, index.selector_words(&inst), |i| {
                let id = inst.id(i);
                let definer = defining_block(index, function, id).and_then(owner_of);
                let Some(uses) = definer.filter(|r| Some(*r) != user).and_then(|r| uses.get_mut(r)) else {
                    return;
                };
                if is_debug {
                    uses.debug.push((inst, id));
                } else if inst.opcode() != op::Phi && is_inner_label(id) {
                    uses.side_entry = Some(inst.offset);
                } else if reachable.can_evaluate(index, function, number, &inst, i) {
                    uses.values.push(id);
                } else {
                    uses.unreachable.push(id);
                }
            });
        }
    }
    uses
}

/// The block of a function that defines an id, as an index into [`Index::blocks`].
pub(super) fn defining_block(index: &Index<'_>, function: &Function, id: Id) -> Option<BlockIndex> {
    index.block_at(function, index.def(id)?.offset)
}

/// The reachable blocks of a function.
pub(super) struct ReachableBlocks {
    function: Run<BlockIndex>,
    /// By position in `function`.
    is_reachable: Vec<bool>,
}

impl ReachableBlocks {
    /// O(blocks and branches of the function).
    pub(super) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut is_reachable = vec![false; function.blocks.count()];
        let mut worklist = vec![function.blocks.start];
        while let Some(number) = worklist.pop() {
            let (Some(seen), Some(block)) = (
                function
                    .blocks
                    .offset_of(number)
                    .and_then(|at| is_reachable.get_mut(at)),
                index.blocks.get(number),
            ) else {
                continue;
            };
            if !std::mem::replace(seen, true) {
                let successors = index.successors(block).into_iter();
                worklist.extend(successors.filter_map(|label| index.block_of_label(function, label)));
            }
        }
        Self {
            function: function.blocks,
            is_reachable,
        }
    }

    /// Whether a block is reachable.
    pub(super) fn contains(&self, block: BlockIndex) -> bool {
        self.function.offset_of(block).and_then(|at| self.is_reachable.get(at)) == Some(&true)
    }

    /// Whether the block with a label is reachable.
    pub(super) fn contains_label(&self, index: &Index<'_>, function: &Function, label: Id) -> bool {
        let block = index.block_of_label(function, label);
        block.is_some_and(|block| self.contains(block))
    }

    /// Whether operand word `word` of an instruction in `block` can be evaluated: for a phi, whether its edge can be taken.
    pub(super) fn can_evaluate(
        &self,
        index: &Index<'_>,
        function: &Function,
        block: BlockIndex,
        inst: &Inst<'_>,
        word: usize,
    ) -> bool {
        let edge = (inst.opcode() == op::Phi).then(|| predecessor(inst, word)).flatten();
        self.contains(block) && edge.is_none_or(|from| self.contains_label(index, function, from))
    }
}
