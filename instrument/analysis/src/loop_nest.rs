//! The loops of a function and how they nest.

use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::BlockIndex;
use vkabort_spirv::index::{Function, Index};

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    pub header: BlockIndex,
    pub continue_target: Id,
    /// Blocks that the header reaches without passing the merge block: the header, the body, the continue construct.
    pub blocks: BTreeSet<BlockIndex>,
    /// Blocks of its continue construct.
    pub(crate) continues: BTreeSet<BlockIndex>,
    /// Position of the innermost loop around it.
    pub parent: Option<usize>,
}

impl Loop {
    /// The loop with this header, merge block and continue target. O(blocks of the loop).
    pub(crate) fn new(
        index: &Index<'_>,
        function: &Function,
        header: BlockIndex,
        merge: Id,
        continue_target: Id,
    ) -> Self {
        let label = index.blocks.get(header).map_or(Id::NONE, |block| block.label);
        Self {
            header,
            continue_target,
            blocks: index.continue_blocks(function, merge, merge, label),
            continues: index.continue_blocks(function, label, merge, continue_target),
            parent: None,
        }
    }
}

/// The loops of a function, in the order of their headers.
#[derive(Clone, Debug, Default)]
pub struct LoopNest {
    loops: Vec<Loop>,
    /// Position of the innermost loop around each block that is in one.
    innermost: HashMap<BlockIndex, usize>,
}

impl LoopNest {
    /// O(blocks * depth of nesting).
    pub fn new(index: &Index<'_>, function: &Function) -> Self {
        let mut nest = Self::default();
        for header in function.blocks.iter() {
            let found = index.blocks.get(header).and_then(|b| Some((b, index.loop_merge(b)?)));
            let Some((_, (merge, continue_target))) = found else {
                continue;
            };
            nest.loops
                .push(Loop::new(index, function, header, merge, continue_target));
        }
        // Inner loops have fewer blocks than those around them.
        let mut by_size: Vec<usize> = (0..nest.loops.len()).collect();
        by_size.sort_by_key(|position| nest.loops.get(*position).map(|l| l.blocks.len()));
        for position in by_size {
            let blocks = nest.loops.get(position).map(|l| l.blocks.clone()).unwrap_or_default();
            for block in blocks {
                let inner = *nest.innermost.entry(block).or_insert(position);
                if inner != position
                    && let Some(inner) = nest.loops.get_mut(inner).filter(|inner| inner.header == block)
                {
                    inner.parent.get_or_insert(position);
                }
            }
        }
        nest
    }

    /// All loops, outer ones before inner ones in structured code.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The innermost loop around a block, by its position. A header is in its loop.
    pub fn innermost(&self, block: BlockIndex) -> Option<usize> {
        self.innermost.get(&block).copied()
    }

    /// Whether a block is outside of a loop around the block `from`.
    pub fn leaves_loop(&self, from: BlockIndex, to: BlockIndex) -> bool {
        let inner = self.innermost(from).and_then(|inner| self.loops.get(inner));
        inner.is_some_and(|inner| !inner.blocks.contains(&to))
    }

    /// The loops around a loop, innermost first, without itself.
    pub fn around<'n>(&'n self, inner: &'n Loop) -> impl Iterator<Item = &'n Loop> {
        std::iter::successors(Some(inner), |l| self.loops.get(l.parent?)).skip(1)
    }

    /// Blocks in which no invocation can leave the function: those of continue constructs, without loops that are their own
    /// continue construct, which can be given another one (`edit::loop_header`).
    pub fn closed_blocks(&self, index: &Index<'_>) -> BTreeSet<BlockIndex> {
        let is_own = |l: &Loop| {
            index
                .blocks
                .get(l.header)
                .is_some_and(|header| header.label == l.continue_target)
        };
        let closed = self.loops.iter().filter(|l| !is_own(l));
        closed.flat_map(|l| l.continues.iter().copied()).collect()
    }
}
