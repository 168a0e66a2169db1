//! Walks over the blocks of a function: whether every path from a definition comes to an effect.

use crate::graph::BlockTable;
use crate::view::{FunctionView, ModuleView};
use smallvec::{SmallVec, smallvec};
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::op;

/// A walk over the blocks of one function.
pub(super) struct Walk {
    /// The number of the last walk that has visited each block.
    visited: BlockTable<u32>,
    number: u32,
    /// Instructions at which the invocation may end: block and word offset, in module order.
    pub(super) leaves: Vec<(BlockIndex, usize)>,
}

impl Walk {
    pub(super) fn new(view: &ModuleView<'_, '_>, function: &FunctionView<'_, '_>) -> Self {
        let index = view.index;
        let mut leaves = Vec::new();
        for (number, block) in function.function.blocks.iter().zip(index.blocks_of(function.function)) {
            let found = index.insts(block.offset, block.end).filter(|inst| view.may_leave(inst));
            leaves.extend(found.map(|inst| (number, inst.offset)));
        }
        Self {
            visited: function.graph.table(|_| 0),
            number: 0,
            leaves,
        }
    }

    /// Whether every path from a definition comes to one of `ends`, or to one of `edges`, before the invocation may end and before it
    /// comes to the definition again. Both lists are sorted.
    pub(super) fn always(
        &mut self,
        function: &FunctionView<'_, '_>,
        (start, offset): (BlockIndex, usize),
        ends: &[(BlockIndex, usize)],
        edges: &[(BlockIndex, BlockIndex)],
        steps: &mut u64,
    ) -> bool {
        self.number += 1;
        let mut worklist: SmallVec<[_; 4]> = smallvec![(start, offset + 1)];
        while let Some((block, from)) = worklist.pop() {
            let Some(left) = steps.checked_sub(1) else {
                return false;
            };
            *steps = left;
            let first = |list: &[(BlockIndex, usize)]| {
                let at = list.partition_point(|entry| *entry < (block, from));
                list.get(at).filter(|(of, _)| *of == block).map(|(_, offset)| *offset)
            };
            match (first(ends), first(&self.leaves)) {
                (Some(end), leave) if leave.is_none_or(|leave| end <= leave) => continue,
                (_, Some(_)) => return false,
                _ => {}
            }
            let successors = function.graph.successors(block);
            if successors.is_empty() && !is_unreachable(function, block) {
                return false;
            }
            for to in successors {
                if edges.binary_search(&(block, *to)).is_ok() {
                    continue;
                }
                if *to == start {
                    return false;
                }
                if let Some(visited) = self.visited.get_mut(*to).filter(|visited| **visited != self.number) {
                    *visited = self.number;
                    worklist.push((*to, 0));
                }
            }
        }
        true
    }
}

fn is_unreachable(function: &FunctionView<'_, '_>, block: BlockIndex) -> bool {
    let block = function.index.blocks.get(block);
    block.is_some_and(|block| function.index.terminator(block).opcode() == op::Unreachable)
}
