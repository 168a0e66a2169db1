//! Selects the exits that get a branch of their own, so that drivers jump over them (`Options::branches_at_exits`).
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
//! Selected are exits in loops, and in functions that loops call: aborts, unless a branch that only leads to aborts leads there, which does it for
//! them; and returns behind calls.

use rustc_hash::FxHashSet as HashSet;
use vkabort_analysis::callgraph::CallGraph;
use vkabort_analysis::loop_nest::LoopNest;
use vkabort_spirv::index::typed::{BlockIndex, FunctionIndex, Table};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, op};

/// The exits of a function that get a branch.
pub(super) struct ExitBranches {
    nest: LoopNest,
    is_called_in_loop: bool,
    /// Labels behind branches that only lead to aborts.
    behind_branches: HashSet<Id>,
}

impl ExitBranches {
    /// O(words of the function).
    pub(super) fn new(index: &Index<'_>, function: &Function, is_called_in_loop: bool) -> Self {
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
            is_called_in_loop,
            behind_branches,
        }
    }

    /// Whether the abort that ends a block gets a branch.
    pub(super) fn has_abort(&self, block: BlockIndex, label: Id) -> bool {
        self.has_return(block) && !self.behind_branches.contains(&label)
    }

    /// Whether a return behind a call of a block gets a branch.
    pub(super) fn has_return(&self, block: BlockIndex) -> bool {
        self.is_called_in_loop || self.nest.innermost(block).is_some()
    }
}

/// Functions that loops call, directly or not.
pub(super) fn called_in_loops(index: &Index<'_>, graph: &CallGraph) -> Table<FunctionIndex, bool> {
    graph.called_in(index, |function| {
        let nest = LoopNest::new(index, function);
        let blocks = function.blocks.iter();
        blocks.filter(|block| nest.innermost(*block).is_some()).collect()
    })
}
