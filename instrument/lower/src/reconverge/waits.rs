//! Finds the functions that execute waiting loops, and the calls behind which one may be executed.

use super::flow::Flow;
use rustc_hash::FxHashSet as HashSet;
use vkabort_analysis::callgraph::CallGraph;
use vkabort_spirv::index::typed::{BlockIndex, CallIndex, FunctionIndex, Node, Table};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Id, op};

/// Functions that execute waiting loops, and functions behind whose calls one may be executed.
pub(super) struct Waits<'a, 'w> {
    index: &'a Index<'w>,
    graph: CallGraph,
    /// Labels of the headers of waiting loops.
    headers: &'a HashSet<Id>,
    /// A waiting loop is in the function or in its callees.
    functions: Table<FunctionIndex, bool>,
    /// A waiting loop may be executed after the function has returned.
    followed: Table<FunctionIndex, bool>,
}

impl<'a, 'w> Waits<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, headers: &'a HashSet<Id>) -> Self {
        let graph = CallGraph::new(index);
        let has_header = |function: FunctionIndex| {
            let blocks = index.functions.get(function).map(|f| index.blocks_of(f));
            blocks.into_iter().flatten().any(|block| headers.contains(&block.label))
        };
        let functions = graph.callers_closure(has_header, |_| true);
        let mut all = Self {
            index,
            graph,
            headers,
            functions,
            followed: index.functions.map(|_| false),
        };
        all.find_followed();
        all
    }

    fn find_followed(&mut self) {
        let mut worklist = Vec::new();
        for (number, function) in self.index.functions.iter() {
            if !self.functions.is_set(number) {
                continue;
            }
            let next = self.index.successor_nodes(function);
            let before = reaching(&next, &self.nodes(number, function));
            let mut later = None;
            // Backwards, so that a call in the same block is known to come later.
            for call in self.graph.calls_in(number).iter().rev() {
                let Some(callee) = self.graph.callee(call) else {
                    continue;
                };
                let block = self.block_of(call);
                let node = block.and_then(|b| function.blocks.offset_of(b)).map(Node::from_usize);
                let behind = node.and_then(|node| next.get(node)).into_iter().flatten();
                if later == block || behind.clone().any(|to| before.is_set(*to)) {
                    worklist.push(callee);
                }
                if self.functions.is_set(callee) {
                    later = block;
                }
            }
        }
        while let Some(function) = worklist.pop() {
            if self.followed.set(function) {
                worklist.extend(self.graph.callees_in(function));
            }
        }
    }

    fn block_of(&self, call: CallIndex) -> Option<BlockIndex> {
        self.index.calls.get(call).map(|call| call.block)
    }

    /// Blocks that are headers of waiting loops or call functions with one.
    fn nodes(&self, number: FunctionIndex, function: &Function) -> Table<Node, bool> {
        let blocks = self.index.blocks_of(function).iter();
        let is_header = blocks.map(|block| self.headers.contains(&block.label));
        let mut nodes: Table<Node, bool> = is_header.collect::<Vec<_>>().into();
        for call in self.graph.calls_in(number).iter() {
            let waits = self
                .graph
                .callee(call)
                .is_some_and(|callee| self.functions.is_set(callee));
            let offset = self.block_of(call).and_then(|block| function.blocks.offset_of(block));
            if let Some(offset) = offset.filter(|_| waits) {
                nodes.set(Node::from_usize(offset));
            }
        }
        nodes
    }

    /// Blocks in which a function waits or, if a waiting loop may follow its call, returns other than by `exits`.
    pub(super) fn nodes_and_returns(
        &self,
        number: FunctionIndex,
        flow: &Flow<'_, '_>,
        exits: &Table<Node, bool>,
    ) -> Table<Node, bool> {
        let mut nodes = self.nodes(number, flow.function);
        if self.followed.is_set(number) {
            for (position, block) in self.index.blocks_of(flow.function).iter().enumerate() {
                let node = Node::from_usize(position);
                let returns = matches!(self.index.terminator(block).opcode(), op::Return | op::ReturnValue);
                if returns && !exits.is_set(node) {
                    nodes.set(node);
                }
            }
        }
        nodes
    }
}

/// Blocks from which one of `targets` can be reached, the targets included.
pub(super) fn reaching(successors: &Table<Node, Vec<Node>>, targets: &Table<Node, bool>) -> Table<Node, bool> {
    let predecessors = successors.reversed();
    let mut found = successors.map(|_| false);
    let mut worklist: Vec<Node> = targets.keys().filter(|node| targets.is_set(*node)).collect();
    while let Some(node) = worklist.pop() {
        if found.set(node) {
            worklist.extend(predecessors.get(node).into_iter().flatten());
        }
    }
    found
}
