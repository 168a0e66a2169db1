//! The control flow of a function: the blocks before and after each, dominators, and an order in which predecessors come first.

use super::dominators::Dominators;
use vkabort_spirv::index::typed::{BlockIndex, Key as _, Node, Run, Table};
use vkabort_spirv::index::{Function, Index};

/// The control flow graph of one function.
#[derive(Debug)]
pub struct FunctionGraph {
    blocks: Run<BlockIndex>,
    /// Word offsets of the blocks' labels.
    starts: Vec<usize>,
    successors: Table<Node, Vec<BlockIndex>>,
    predecessors: Table<Node, Vec<BlockIndex>>,
    dominators: Dominators,
    reverse_postorder: Vec<BlockIndex>,
}

impl FunctionGraph {
    /// O(words of terminators), with the cost of [`Dominators::new`].
    pub fn new(index: &Index<'_>, function: &Function) -> Self {
        let nodes = index.successor_nodes(function);
        let dominators = Dominators::new(&nodes);
        let block = |node: &Node| function.blocks.at(node.to_usize());
        let to_blocks = |table: &Table<Node, Vec<Node>>| {
            table.map(|node| {
                table
                    .get(node)
                    .into_iter()
                    .flatten()
                    .filter_map(block)
                    .collect::<Vec<_>>()
            })
        };
        Self {
            blocks: function.blocks,
            starts: index.blocks_of(function).iter().map(|block| block.offset).collect(),
            successors: to_blocks(&nodes),
            predecessors: to_blocks(&nodes.reversed()),
            reverse_postorder: dominators.reverse_postorder().filter_map(|node| block(&node)).collect(),
            dominators,
        }
    }

    fn node(&self, block: BlockIndex) -> Option<Node> {
        self.blocks.offset_of(block).map(Node::from_usize)
    }

    /// The first block.
    pub(crate) fn entry(&self) -> Option<BlockIndex> {
        self.blocks.at(0)
    }

    /// The block of the instruction at a word offset of the function. O(log(blocks)).
    pub fn block_at(&self, offset: usize) -> Option<BlockIndex> {
        let after = self.starts.partition_point(|start| *start <= offset);
        self.blocks.at(after.checked_sub(1)?)
    }

    /// The blocks that a block branches to, each once.
    pub(crate) fn successors(&self, block: BlockIndex) -> &[BlockIndex] {
        let found = self.node(block).and_then(|node| self.successors.get(node));
        found.map_or(&[], Vec::as_slice)
    }

    /// The blocks that branch to a block, each once.
    pub fn predecessors(&self, block: BlockIndex) -> &[BlockIndex] {
        let found = self.node(block).and_then(|node| self.predecessors.get(node));
        found.map_or(&[], Vec::as_slice)
    }

    /// The reachable blocks, each after those of its predecessors that no back edge comes from.
    pub(crate) fn reverse_postorder(&self) -> &[BlockIndex] {
        &self.reverse_postorder
    }

    /// Reachable blocks, each after its immediate dominator and with all that it dominates behind it.
    pub(crate) fn dominator_preorder(&self) -> Vec<BlockIndex> {
        let nodes = self.dominators.preorder().into_iter();
        nodes.filter_map(|node| self.blocks.at(node.to_usize())).collect()
    }

    /// Whether a path leads to a block.
    pub fn is_reachable(&self, block: BlockIndex) -> bool {
        self.node(block).is_some_and(|node| self.dominators.is_reachable(node))
    }

    /// Whether all paths to the reachable block `to` pass `from`. O(1).
    pub fn dominates(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let nodes = self.node(from).zip(self.node(to));
        nodes.is_some_and(|(from, to)| self.dominators.dominates(from, to))
    }

    /// The times at which a walk of the dominator tree enters and leaves a block.
    pub(crate) fn tree_times(&self, block: BlockIndex) -> (u32, u32) {
        let node = self.node(block);
        node.map_or((0, 0), |node| self.dominators.times(node))
    }

    /// The closest block that all paths to a block pass before it. `None` for the first block and for unreachable ones.
    pub fn immediate_dominator(&self, block: BlockIndex) -> Option<BlockIndex> {
        let above = self.dominators.parent(self.node(block)?)?;
        self.blocks.at(above.to_usize())
    }

    /// The dominance frontier of each block.
    pub(crate) fn dominance_frontiers(&self) -> BlockTable<Vec<BlockIndex>> {
        let before = |node| self.predecessors.get(node).into_iter().flatten();
        let predecessors = self
            .predecessors
            .map(|node| before(node).filter_map(|block| self.node(*block)).collect());
        let nodes = self.dominators.frontiers(&predecessors);
        self.table(|block| {
            let of_block = self.node(block).and_then(|node| nodes.get(node));
            let frontier = of_block.into_iter().flatten();
            frontier.filter_map(|node| self.blocks.at(node.to_usize())).collect()
        })
    }

    /// A value for each block.
    pub(crate) fn table<T>(&self, value: impl FnMut(BlockIndex) -> T) -> BlockTable<T> {
        BlockTable {
            blocks: self.blocks,
            values: self.blocks.iter().map(value).collect(),
        }
    }
}

/// A value for each block of a function.
#[derive(Clone, Debug)]
pub(crate) struct BlockTable<T> {
    blocks: Run<BlockIndex>,
    values: Vec<T>,
}

impl<T> BlockTable<T> {
    pub(crate) fn get(&self, block: BlockIndex) -> Option<&T> {
        self.values.get(self.blocks.offset_of(block)?)
    }

    pub(crate) fn get_mut(&mut self, block: BlockIndex) -> Option<&mut T> {
        self.values.get_mut(self.blocks.offset_of(block)?)
    }
}
