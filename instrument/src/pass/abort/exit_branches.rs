//! Which aborts get a branch of their own, so that drivers jump over them (`Options::branches_at_exits`).
//!
//! ```text
//! stores of the values and the key
//! %cursor = AtomicLoad %arena
//! %never = IEqual %cursor 0xffffffff        no compiler knows that it is false
//! SelectionMerge %end, BranchConditional %never %store %end
//! %store: AtomicStore %arena 0xffffffff, Branch %end
//! %end:   Return
//! ```
//!
//! Those in loops, unless a branch that only leads to aborts leads there: that one does it for them.

use crate::analysis::index::typed::BlockIndex;
use crate::analysis::index::{Function, Index};
use crate::analysis::loop_nest::LoopNest;
use crate::spv::{Id, op};
use rustc_hash::FxHashSet as HashSet;

/// The aborts of a function that get a branch.
pub(super) struct ExitBranches {
    nest: LoopNest,
    /// Labels behind branches that only lead to aborts.
    behind_branches: HashSet<Id>,
}

impl ExitBranches {
    /// O(words of the function).
    pub(super) fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut only_abort: HashSet<Id> = HashSet::default();
        let mut behind_branches = HashSet::default();
        // Blocks come behind those that dominate them.
        for block in index.blocks_of(function).iter().rev() {
            if index.terminator(block).opcode() == op::AbortKHR {
                only_abort.insert(block.label);
                continue;
            }
            let successors = index.successors(block);
            if !successors.is_empty() && successors.iter().all(|label| only_abort.contains(label)) {
                only_abort.insert(block.label);
                behind_branches.extend(successors);
            }
        }
        Self {
            nest: LoopNest::new(index, function),
            behind_branches,
        }
    }

    /// Whether the abort that ends a block gets a branch.
    pub(super) fn has(&self, block: BlockIndex, label: Id) -> bool {
        self.nest.innermost(block).is_some() && !self.behind_branches.contains(&label)
    }
}
