//! Which blocks of a function branches reach.
//!
//! Values may be used in the others, and by phis for ways from there, where they do not dominate the use. Nobody sees such a
//! use, so across the border of a region it gets an undefined value.

use crate::analysis::index::Index;
use crate::analysis::index::function::Function;
use crate::edit::phi::predecessor;
use crate::spv::{Inst, op};

/// The reached blocks of a function.
pub(super) struct Reached {
    first: usize,
    blocks: Vec<bool>,
}

impl Reached {
    pub(super) fn new(index: &Index<'_>, function: &Function) -> Self {
        let first = function.blocks.start;
        let mut blocks = vec![false; function.blocks.len()];
        let mut open = vec![first];
        while let Some(number) = open.pop() {
            let (Some(seen), Some(block)) = (blocks.get_mut(number - first), index.blocks.get(number)) else {
                continue;
            };
            if !std::mem::replace(seen, true) {
                let successors = index.successors(block).into_iter();
                open.extend(successors.filter_map(|label| index.block_of_label(function, label)));
            }
        }
        Self { first, blocks }
    }

    pub(super) fn has(&self, block: usize) -> bool {
        block.checked_sub(self.first).and_then(|at| self.blocks.get(at)) == Some(&true)
    }

    /// Whether word `word` of an instruction of a block is used by code that is reached: of a phi, on the way there.
    pub(super) fn uses(
        &self,
        index: &Index<'_>,
        function: &Function,
        block: usize,
        inst: &Inst<'_>,
        word: usize,
    ) -> bool {
        let from = (inst.opcode() == op::Phi).then(|| predecessor(inst, word)).flatten();
        let comes = |from| index.block_of_label(function, from).is_some_and(|from| self.has(from));
        self.has(block) && from.is_none_or(comes)
    }
}
