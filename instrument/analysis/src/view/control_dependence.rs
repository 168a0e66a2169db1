//! The conditions that decide which blocks of a loop or a function are executed: control dependence (Ferrante, Ottenstein and Warren,
//! "The Program Dependence Graph and its Use in Optimization").
//!
//! A loop is looked at for one iteration, which ends by leaving the loop or by its back edge. Paths that only lead to an abort do not
//! count.

use super::function::FunctionView;
use crate::dominators::Dominators;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use vkabort_spirv::index::typed::{BlockIndex, Key as _, Node, Table};
use vkabort_spirv::{Id, op};

/// The virtual node at which all paths end.
const END: usize = 0;
/// A path ends by leaving the loop or the function.
const EXIT: usize = 1;
/// A path ends by the back edge of the loop.
const REPEAT: usize = 2;
/// Nodes before those of blocks.
const ENDS: usize = 3;

/// The blocks of a loop or a function, and the branches that each depends on.
pub(crate) struct ControlDependence {
    blocks: Vec<BlockIndex>,
    nodes: HashMap<BlockIndex, Node>,
    /// By node: the branches that decide whether it is executed, by their nodes.
    dependences: Table<Node, Vec<Node>>,
    /// Whether a block has more than one branch that ends elsewhere than in an abort.
    decides: Table<Node, bool>,
}

impl ControlDependence {
    /// `header`: of the loop, if the blocks are those of a loop.
    pub(crate) fn new(view: &FunctionView<'_, '_>, blocks: &BTreeSet<BlockIndex>, header: Option<BlockIndex>) -> Self {
        let blocks: Vec<BlockIndex> = blocks.iter().copied().collect();
        let node = |position: usize| Node::from_usize(position + ENDS);
        let nodes: HashMap<BlockIndex, Node> = blocks
            .iter()
            .enumerate()
            .map(|(at, block)| (*block, node(at)))
            .collect();
        let mut successors: Vec<Vec<Node>> = vec![vec![]; ENDS];
        for end in [EXIT, REPEAT] {
            if let Some(list) = successors.get_mut(end) {
                list.push(Node::from_usize(END));
            }
        }
        for block in &blocks {
            let end = view
                .index
                .blocks
                .get(*block)
                .map(|block| view.index.terminator(block).opcode());
            let mut next: Vec<Node> = match end {
                Some(op::AbortKHR | op::Unreachable) | None => Vec::new(),
                Some(op::Branch | op::BranchConditional | op::Switch) => {
                    let to = view.graph.successors(*block).iter();
                    to.map(|to| match nodes.get(to) {
                        _ if Some(*to) == header => Node::from_usize(REPEAT),
                        Some(node) => *node,
                        None => Node::from_usize(EXIT),
                    })
                    .collect()
                }
                Some(_) => vec![Node::from_usize(EXIT)],
            };
            next.sort_unstable();
            next.dedup();
            successors.push(next);
        }
        let successors: Table<Node, Vec<Node>> = successors.into();
        // Towards the end, a dominator is passed by all paths from a block.
        let behind = Dominators::new(&successors.reversed());
        let ways = |branch| successors.get(branch).into_iter().flatten();
        Self {
            dependences: behind.frontiers(&successors),
            decides: successors.map(|branch| ways(branch).filter(|to| behind.is_reachable(**to)).count() > 1),
            blocks,
            nodes,
        }
    }

    pub(crate) fn contains(&self, block: BlockIndex) -> bool {
        self.nodes.contains_key(&block)
    }

    pub(crate) fn blocks(&self) -> &[BlockIndex] {
        &self.blocks
    }

    /// The conditions that decide whether the loop is left in an iteration.
    pub(crate) fn deciding_exit(&self, view: &FunctionView<'_, '_>) -> Vec<Id> {
        self.conditions(view, [Node::from_usize(EXIT)], &|_| true)
    }

    /// The conditions that decide which of some blocks are executed.
    pub(crate) fn guarding(&self, view: &FunctionView<'_, '_>, blocks: impl Iterator<Item = BlockIndex>) -> Vec<Id> {
        let nodes = blocks.filter_map(|block| self.nodes.get(&block).copied());
        self.conditions(view, nodes, &|_| true)
    }

    /// The conditions that decide from which of its predecessors `from` a block is reached.
    pub(crate) fn selecting(&self, view: &FunctionView<'_, '_>, block: BlockIndex, from: &[BlockIndex]) -> Vec<Id> {
        let above = view.graph.immediate_dominator(block);
        // A branch before that one decides whether the block is reached at all.
        let is_below = |at: BlockIndex| above.is_none_or(|above| view.graph.dominates(above, at));
        let from: Vec<Node> = from.iter().filter_map(|from| self.nodes.get(from).copied()).collect();
        let own = from.iter().copied().filter(|node| self.decides.is_set(*node));
        let mut conditions: Vec<Id> = own.filter_map(|node| self.condition(view, node, &is_below)).collect();
        conditions.extend(self.conditions(view, from.iter().copied(), &is_below));
        conditions
    }

    fn block(&self, node: Node) -> Option<BlockIndex> {
        self.blocks.get(node.to_usize().checked_sub(ENDS)?).copied()
    }

    fn condition(
        &self,
        view: &FunctionView<'_, '_>,
        branch: Node,
        is_counted: &dyn Fn(BlockIndex) -> bool,
    ) -> Option<Id> {
        let block = self.block(branch).filter(|block| is_counted(*block))?;
        let block = view.index.blocks.get(block)?;
        Some(view.index.terminator(block).condition())
    }

    /// The conditions of the branches that nodes depend on, with those that these branches depend on.
    fn conditions(
        &self,
        view: &FunctionView<'_, '_>,
        nodes: impl IntoIterator<Item = Node>,
        is_counted: &dyn Fn(BlockIndex) -> bool,
    ) -> Vec<Id> {
        let mut seen = BTreeSet::new();
        let mut worklist: Vec<Node> = nodes.into_iter().collect();
        let mut found = Vec::new();
        while let Some(node) = worklist.pop() {
            for branch in self.dependences.get(node).into_iter().flatten() {
                if seen.insert(*branch)
                    && let Some(condition) = self.condition(view, *branch, is_counted)
                {
                    found.push(condition);
                    worklist.push(*branch);
                }
            }
        }
        found
    }
}
