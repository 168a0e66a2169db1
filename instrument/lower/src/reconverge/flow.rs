//! The control flow graph of one function and its structured constructs.

use vkabort_analysis::dominators::Dominators;
use vkabort_spirv::index::typed::{Key, Node, Table};
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::{Id, op};

/// A loop or a selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Construct {
    pub(super) merge: Node,
    /// Only loops have one.
    pub(super) continue_target: Option<Node>,
    /// Whether any block inside may branch to the merge block, however deep in selections: in loops and switches.
    pub(super) is_breakable: bool,
    /// Header of the construct around it.
    pub(super) outer: Option<Node>,
}

/// A function as a graph of its blocks.
pub(super) struct Flow<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) function: &'a Function,
    pub(super) successors: Table<Node, Vec<Node>>,
    /// By branches.
    pub(super) dominators: Dominators,
    /// By header. `None` for other blocks and for headers that structured control flow does not reach.
    constructs: Table<Node, Option<Construct>>,
    /// Headers of all constructs, outer ones first.
    pub(super) headers: Vec<Node>,
    /// Header of the innermost construct around each block. A header is outside its own construct, unless it is a loop's.
    around: Table<Node, Option<Node>>,
    /// Blocks of continue constructs, which no branch leaves but the back edge.
    continues: Table<Node, bool>,
}

/// Whether a merge block is the header of a loop: its test then precedes the loop.
pub(super) fn is_loop(flow: &Flow<'_, '_>, merge: Node) -> bool {
    let construct = flow.construct(merge);
    construct.is_some_and(|construct| construct.continue_target.is_some())
}

impl<'a, 'w> Flow<'a, 'w> {
    pub(super) fn new(index: &'a Index<'w>, function: &'a Function) -> Self {
        let successors = index.successor_nodes(function);
        let mut flow = Self {
            index,
            function,
            dominators: Dominators::new(&successors),
            constructs: successors.map(|_| None),
            headers: Vec::new(),
            around: successors.map(|_| None),
            continues: successors.map(|_| false),
            successors,
        };
        flow.find_constructs();
        flow
    }

    /// Structural dominance (SPIR-V specification 2.11): an edge leads from each header to its merge block and its continue
    /// target. A block is in the construct of its immediate structural dominator, or in those around that one.
    fn find_constructs(&mut self) {
        let merges = self.successors.map(|node| self.merge_of(node));
        let mut edges = self.successors.clone();
        for (node, merge) in merges.iter() {
            if let (Some((merge, target)), Some(list)) = (merge, edges.get_mut(node)) {
                list.push(*merge);
                list.extend(target);
            }
        }
        let structural = Dominators::new(&edges);
        for node in structural.preorder() {
            let above = structural.parent(node);
            let of_above = above.and_then(|above| merges.get(above).copied().flatten());
            let is_merge = of_above.is_some_and(|(merge, _)| merge == node);
            let is_target = of_above.is_some_and(|(_, target)| target == Some(node));
            let around_above = above.and_then(|above| self.outside(above));
            let around = match of_above {
                Some(_) if !is_merge => above,
                _ => around_above,
            };
            let continues = is_target || above.is_some_and(|above| self.continues.is_set(above));
            if continues {
                self.continues.set(node);
            }
            if let Some(slot) = self.around.get_mut(node) {
                *slot = around;
            }
            let end = self.block(node).map(|block| self.index.terminator(block).opcode());
            if let Some((merge, continue_target)) = merges.get(node).copied().flatten()
                && let Some(slot) = self.constructs.get_mut(node)
            {
                *slot = Some(Construct {
                    merge,
                    continue_target,
                    is_breakable: continue_target.is_some() || end == Some(op::Switch),
                    outer: around,
                });
                self.headers.push(node);
            }
        }
    }

    fn merge_of(&self, node: Node) -> Option<(Node, Option<Node>)> {
        let inst = self.index.merge(self.block(node)?)?;
        let merge = self.node(inst.merge_block())?;
        let is_loop = inst.opcode() == op::LoopMerge;
        let target = is_loop.then(|| self.node(inst.continue_target())).flatten();
        Some((merge, target))
    }

    pub(super) fn block(&self, node: Node) -> Option<&'a Block> {
        self.index.blocks.get(self.function.blocks.at(node.to_usize())?)
    }

    pub(super) fn node(&self, label: Id) -> Option<Node> {
        self.index.node_of(self.function, label)
    }

    pub(super) fn label(&self, node: Node) -> Id {
        self.block(node).map_or(Id::NONE, |block| block.label)
    }

    pub(super) fn construct(&self, header: Node) -> Option<Construct> {
        self.constructs.get(header).copied().flatten()
    }

    /// Header of the innermost construct around the first instruction of a block.
    pub(super) fn outside(&self, node: Node) -> Option<Node> {
        self.around.get(node).copied().flatten()
    }

    /// Header of the innermost construct around the end of a block: a loop's header is inside its loop.
    pub(super) fn innermost(&self, node: Node) -> Option<Node> {
        match self.construct(node) {
            Some(construct) if construct.continue_target.is_some() => Some(node),
            _ => self.outside(node),
        }
    }

    pub(super) fn is_in_continue(&self, node: Node) -> bool {
        self.continues.is_set(node)
    }
}
