//! A function with aborts: its control flow, and which values reach which blocks.

use crate::analysis::dominators::Dominators;
use crate::analysis::index::typed::{BlockIndex, Key as _, Node, Table};
use crate::analysis::index::{Block, Function, Index};
use crate::analysis::loop_nest::LoopNest;
use crate::analysis::variable_uses::VariableUses;
use crate::spv::{Id, Inst, op};

/// A function, and what is computed from its control flow.
pub(super) struct FunctionFlow<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) function: &'a Function,
    pub(super) dominators: Dominators,
    pub(super) uses: VariableUses,
    predecessors: Table<Node, Vec<Node>>,
    nest: LoopNest,
}

impl<'a, 'w> FunctionFlow<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, function: &'a Function) -> Self {
        let successors = index.successor_nodes(function);
        let mut predecessors: Table<Node, Vec<Node>> = successors.map(|_| Vec::new());
        for (from, to) in successors.iter() {
            for to in to {
                if let Some(list) = predecessors.get_mut(*to) {
                    list.push(from);
                }
            }
        }
        Self {
            index,
            function,
            dominators: Dominators::new(&successors),
            uses: VariableUses::new(index, function),
            predecessors,
            nest: LoopNest::new(index, function),
        }
    }

    pub(super) fn block(&self, node: Node) -> Option<&'a Block> {
        self.index.blocks.get(self.block_index(node)?)
    }

    fn block_index(&self, node: Node) -> Option<BlockIndex> {
        self.function.blocks.at(node.to_usize())
    }

    pub(super) fn node_of_label(&self, label: Id) -> Option<Node> {
        self.index.node_of(self.function, label)
    }

    /// The only predecessor of a block, by the blocks that branch to it.
    pub(super) fn only_predecessor(&self, node: Node) -> Option<Node> {
        match self.predecessors(node) {
            [only] => Some(*only),
            _ => None,
        }
    }

    pub(super) fn predecessors(&self, node: Node) -> &[Node] {
        self.predecessors.get(node).map_or(&[], Vec::as_slice)
    }

    /// The header of the outermost loop that has `node` but not `other`.
    pub(super) fn left_loop(&self, node: Node, other: Node) -> Option<Node> {
        let (block, other) = (self.block_index(node)?, self.block_index(other)?);
        let inner = self.nest.loops().get(self.nest.innermost(block)?)?;
        let loops = std::iter::once(inner).chain(self.nest.around(inner));
        let left = loops.take_while(|l| !l.blocks.contains(&other)).last()?;
        let header = self.function.blocks.offset_of(left.header)?;
        Some(Node::from_usize(header))
    }

    /// Whether a loop has both nodes.
    pub(super) fn shares_loop(&self, node: Node, other: Node) -> bool {
        let (Some(block), Some(other)) = (self.block_index(node), self.block_index(other)) else {
            return false;
        };
        let innermost = self.nest.innermost(block).and_then(|at| self.nest.loops().get(at));
        innermost.is_some_and(|inner| {
            let mut loops = std::iter::once(inner).chain(self.nest.around(inner));
            loops.any(|l| l.blocks.contains(&other))
        })
    }

    /// The block that has the instruction at a word offset of the function.
    pub(super) fn node_at(&self, offset: usize) -> Option<Node> {
        let blocks = self.index.blocks_of(self.function);
        let position = blocks.partition_point(|block| block.offset <= offset).checked_sub(1)?;
        (offset < blocks.get(position)?.end).then(|| Node::from_usize(position))
    }

    /// Whether `id` is a value that is defined wherever the end of the block `node` is reached.
    pub(super) fn reaches(&self, id: Id, node: Node) -> bool {
        let Some(inst) = self.index.def(id) else {
            return false;
        };
        if inst.offset < self.index.sections.globals {
            return is_constant(&inst);
        }
        match inst.opcode() {
            op::FunctionParameter => (self.function.offset..self.function.end).contains(&inst.offset),
            _ => self
                .node_at(inst.offset)
                .is_some_and(|at| self.dominators.dominates(at, node)),
        }
    }
}

/// Whether an instruction is a constant or a specialisation constant.
pub(super) fn is_constant(inst: &Inst<'_>) -> bool {
    matches!(
        inst.opcode(),
        op::ConstantTrue..=op::ConstantNull | op::SpecConstantTrue..=op::SpecConstantOp
    )
}
