//! The outcomes of branches, and those that lead to a block.

use crate::view::FunctionView;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::{Id, op};

/// Most blocks on the way to a block.
const MOST_BLOCKS: usize = 64;

/// An outcome of a branch.
pub(super) struct Outcome {
    pub(super) to: BlockIndex,
    /// Whether only this edge leads to the block, but for back edges from blocks that it dominates.
    pub(super) is_alone: bool,
    pub(super) condition: Id,
    pub(super) result: bool,
}

/// The outcomes of a block's branch.
pub(super) fn outcomes(function: &FunctionView<'_, '_>, number: BlockIndex) -> Vec<Outcome> {
    let Some(block) = function.index.blocks.get(number) else {
        return Vec::new();
    };
    let branch = function.index.terminator(block);
    if branch.opcode() != op::BranchConditional || branch.true_label() == branch.false_label() {
        return Vec::new();
    }
    let graph = &function.graph;
    let targets = [(branch.true_label(), true), (branch.false_label(), false)].into_iter();
    let found = targets.filter_map(|(label, result)| {
        let to = function.index.block_of_label(function.function, label)?;
        let mut before = graph.predecessors(to).iter();
        let is_alone = before.all(|from| *from == number || graph.dominates(to, *from) || !graph.is_reachable(*from));
        let condition = branch.condition();
        // A block whose own branch leads back to it.
        let is_alone = is_alone && to != number;
        Some(Outcome {
            to,
            is_alone,
            condition,
            result,
        })
    });
    found.collect()
}

/// The outcomes of the branches that lead from the block `above` to a block which it dominates.
pub(super) fn on_the_way(
    function: &FunctionView<'_, '_>,
    to: BlockIndex,
    above: Option<BlockIndex>,
) -> Vec<(Id, Option<u32>, bool)> {
    let mut found = Vec::new();
    let mut at = to;
    while Some(at) != above && found.len() < MOST_BLOCKS {
        let Some(before) = function.graph.immediate_dominator(at) else {
            break;
        };
        let of_branch = outcomes(function, before)
            .into_iter()
            .find(|outcome| outcome.is_alone && outcome.to == at);
        found.extend(of_branch.map(|outcome| (outcome.condition, None, outcome.result)));
        at = before;
    }
    found
}
