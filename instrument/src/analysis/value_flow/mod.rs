//! Where a value has an effect: on memory, control flow, other invocations or the results of the stage.
//!
//! An instruction whose result is undefined does no harm if the result is dropped, as by `OpSelect`, a mask, a phi of another
//! path, or an overwritten variable. So a check of its operands belongs where the result is certain to have an effect:
//!
//! ```text
//! %q = UDiv %a %b            observed at %q if every path from there uses it
//! %r = Select %c %q %zero    observed at %r, if %c
//! Store %buffer %q           observed
//! ```
//!
//! A value that other invocations of the subgroup may read (broadcasts, shuffles, rotations, exchanges in a quad) counts as dropped,
//! since they need not: `subgroupBroadcastFirst(a / b)` reads one of them. Reductions and votes read all.
//!
//! Conservative: an effect that the analysis does not find is not reported.

mod answers;
mod fate;
pub(crate) mod lane;
pub(crate) mod memory;
mod observed;
mod points;
mod same;
mod uses;

use crate::analysis::dominators::Dominators;
use crate::analysis::index::typed::{BlockIndex, Key, Node};
use crate::analysis::index::{Function, Index};
use crate::spv::Id;
use answers::Answers;
use memory::LocalMemory;

use rustc_hash::FxHashMap as HashMap;
use uses::Uses;

/// Limit on the uses and blocks that are visited for one function.
const MAX_STEPS: u32 = 1 << 20;

/// A part of a condition under which a value has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Condition {
    pub(crate) value: Id,
    /// The component of a vector.
    pub(crate) component: Option<u32>,
    pub(crate) test: Test,
}

/// What a condition asks of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Test {
    True,
    False,
    /// Of a number.
    NonZero,
}

/// A place at which a value is certain to have an effect if the conditions hold, which are known there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) block: BlockIndex,
    /// Word offset of an instruction.
    pub(crate) offset: usize,
    pub(crate) conditions: Vec<Condition>,
}

/// The flow of values in one function.
pub(crate) struct ValueFlow<'a, 'w> {
    index: &'a Index<'w>,
    function: &'a Function,
    dominators: Dominators,
    /// Predecessors of blocks.
    before: HashMap<BlockIndex, Vec<BlockIndex>>,
    uses: Uses,
    pub(crate) memory: LocalMemory,
    answers: Answers,
    steps: u32,
    /// The imported sets `GLSL.std.450`.
    glsl: Vec<Id>,
}

impl<'a, 'w> ValueFlow<'a, 'w> {
    /// O(words of the function).
    pub(crate) fn new(index: &'a Index<'w>, function: &'a Function) -> Self {
        let successors = index.successor_nodes(function);
        let mut before: HashMap<BlockIndex, Vec<BlockIndex>> = HashMap::default();
        for (from, to) in successors
            .iter()
            .flat_map(|(from, next)| next.iter().map(move |to| (from, *to)))
        {
            let block = |node: Node| function.blocks.at(node.to_usize());
            if let (Some(from), Some(to)) = (block(from), block(to)) {
                before.entry(to).or_default().push(from);
            }
        }
        Self {
            index,
            function,
            dominators: Dominators::new(&successors),
            before,
            uses: Uses::new(index, function),
            memory: LocalMemory::new(index, function),
            answers: Answers::default(),
            steps: MAX_STEPS,
            glsl: index.sets("GLSL.std.450"),
        }
    }

    /// The block of the instruction at a word offset.
    pub(crate) fn block_at(&self, offset: usize) -> Option<BlockIndex> {
        let blocks = self.index.blocks_of(self.function);
        let after = blocks.partition_point(|block| block.offset <= offset);
        self.function.blocks.at(after.checked_sub(1)?)
    }

    fn node(&self, block: BlockIndex) -> Option<Node> {
        self.function.blocks.offset_of(block).map(Node::from_usize)
    }

    /// Whether all paths to the block `to` pass the block `from`.
    pub(crate) fn dominates(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let nodes = self.node(from).zip(self.node(to));
        nodes.is_some_and(|(from, to)| self.dominators.dominates(from, to))
    }

    /// The immediate dominator of a block.
    pub(crate) fn parent(&self, block: BlockIndex) -> Option<BlockIndex> {
        let parent = self.dominators.parent(self.node(block)?)?;
        self.function.blocks.at(parent.to_usize())
    }

    pub(crate) fn is_reachable(&self, block: BlockIndex) -> bool {
        self.node(block).is_some_and(|node| self.dominators.is_reachable(node))
    }

    /// Blocks that a block follows.
    pub(crate) fn before(&self, block: BlockIndex) -> Vec<BlockIndex> {
        self.before.get(&block).cloned().unwrap_or_default()
    }

    /// Blocks that follow a block.
    fn next(&self, block: BlockIndex) -> Vec<BlockIndex> {
        let successors = self.index.blocks.get(block).map(|block| self.index.successors(block));
        let labels = successors.unwrap_or_default().into_iter();
        let mut blocks: Vec<BlockIndex> = labels
            .filter_map(|label| self.index.block_of_label(self.function, label))
            .collect();
        blocks.dedup();
        blocks
    }
}
