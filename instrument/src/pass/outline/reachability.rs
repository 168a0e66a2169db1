//! Which blocks of a function are reachable by branches from its first block.
//!
//! Unreachable blocks, and phi operands for edges from them, may use values that do not dominate the use. Such a use is
//! never executed, so across the border of a region it gets an undefined value.

use crate::analysis::index::typed::{BlockIndex, Run};
use crate::analysis::index::{Function, Index};
use crate::edit::phi::predecessor;
use crate::spv::{Inst, op};

/// The reachable blocks of a function.
pub(super) struct ReachableBlocks {
    function: Run<BlockIndex>,
    /// By position in `function`.
    is_reachable: Vec<bool>,
}

impl ReachableBlocks {
    /// O(blocks and branches of the function).
    pub(super) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut is_reachable = vec![false; function.blocks.len()];
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
        let can_take = |from| {
            index
                .block_of_label(function, from)
                .is_some_and(|from| self.contains(from))
        };
        self.contains(block) && edge.is_none_or(can_take)
    }
}
