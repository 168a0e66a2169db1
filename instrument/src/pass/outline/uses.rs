//! What the rest of a function takes from its regions.

use super::Region;
use super::reachability::Reached;
use crate::analysis::index::Index;
use crate::analysis::index::function::Function;
use crate::spv::{Id, Inst, op, operands};
use rustc_hash::FxHashSet as HashSet;

/// What stays outside a region and names what it defines. The branch of its back edge is outside too.
#[derive(Default)]
pub(super) struct Uses<'w> {
    /// Ids that are needed, once for each use.
    pub(super) values: Vec<Id>,
    /// Ids that are named where nothing reaches, and must be defined for that.
    pub(super) unreached: Vec<Id>,
    /// Debug instructions, with an id that they name.
    pub(super) debug: Vec<(Inst<'w>, Id)>,
    /// Where a block outside leads into the middle of the region. Only one that nothing reaches may.
    pub(super) entered: Option<usize>,
}

/// The uses of each region of a function, found in one walk over the function for all of them. No two regions share a
/// block.
pub(super) fn of_regions<'w>(
    index: &Index<'w>,
    function: &Function,
    regions: &[Region],
    reached: &Reached,
) -> Vec<Uses<'w>> {
    let mut uses: Vec<Uses<'w>> = Vec::new();
    uses.resize_with(regions.len(), Uses::default);
    // The region of each block.
    let first = function.blocks.start;
    let mut owners: Vec<Option<usize>> = vec![None; function.blocks.len()];
    for (number, region) in regions.iter().enumerate() {
        for block in &region.blocks {
            if let Some(owner) = owners.get_mut(block - first) {
                *owner = Some(number);
            }
        }
    }
    let targets: HashSet<Id> = regions.iter().map(|region| region.target).collect();
    let is_middle = |id: Id| index.opcode(id) == op::Label && !targets.contains(&id);
    let owner_of = |block: usize| owners.get(block - first).copied().flatten();
    for number in function.blocks.clone() {
        let Some(block) = index.blocks.get(number) else {
            continue;
        };
        let owner = owner_of(number);
        let end = owner
            .and_then(|r| regions.get(r))
            .filter(|region| region.is_left_by(index, block))
            .map_or(0, |_| block.terminator);
        for inst in index.insts(block.offset, block.end).skip(1) {
            let user = owner.filter(|_| inst.offset != end);
            let is_debug = index.is_debug_info(&inst);
            if is_debug && user.is_some() {
                continue;
            }
            operands::visit_ids(&inst, index.selector_words(&inst), |i| {
                let id = inst.word(i);
                let defined = block_that_defines(index, function, id).and_then(owner_of);
                let Some(used) = defined.filter(|r| Some(*r) != user).and_then(|r| uses.get_mut(r)) else {
                    return;
                };
                if is_debug {
                    used.debug.push((inst, id));
                } else if inst.opcode() != op::Phi && is_middle(id) {
                    used.entered = Some(inst.offset);
                } else if !reached.uses(index, function, number, &inst, i) {
                    used.unreached.push(id);
                } else {
                    used.values.push(id);
                }
            });
        }
    }
    uses
}

/// The block of a function, among all of the module, in which an id is defined.
pub(super) fn block_that_defines(index: &Index<'_>, function: &Function, id: Id) -> Option<usize> {
    let offset = index.def(id)?.offset;
    let blocks = index.blocks_of(function);
    let number = blocks.partition_point(|b| b.offset <= offset).checked_sub(1)?;
    let holds = blocks.get(number).is_some_and(|b| offset < b.end);
    holds.then_some(function.blocks.start + number)
}
