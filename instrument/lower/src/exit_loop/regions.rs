//! Finds the regions of a function with many returns, and the blocks at which they can be divided into sections.

use super::counted_ends::CountedEnds;
use vkabort_spirv::index::typed::{Key, Node, Table};
use vkabort_spirv::index::{Block, Function, Index};
use vkabort_spirv::{Id, op};

/// Blocks that are executed one after the other: each is behind the construct of the one before.
#[derive(Default)]
struct Region {
    blocks: Vec<Node>,
    /// The region around it, and its block that is the header.
    around: Option<(usize, Node)>,
    is_in_loop: bool,
    /// Returns in it, and in all that is in its constructs.
    returns: usize,
}

/// The regions of a function, outer ones first.
struct Regions {
    all: Vec<Region>,
    /// `None` for blocks that structured control flow does not reach.
    of: Table<Node, Option<usize>>,
    /// Returns in the construct of a header, and its own.
    returns: Table<Node, usize>,
    /// Blocks that return, outside of loops.
    returning: Vec<Node>,
}

/// How to divide a function.
pub(super) struct Borders {
    /// The blocks of each divided region at which its sections begin, and the block behind the last one: two or more. No such region
    /// is in a construct of another one.
    pub(super) by_region: Vec<Vec<Node>>,
    /// Blocks that return, outside of loops.
    pub(super) returns: Vec<Node>,
}

/// Returns in front of a barrier that are worth a section of their own, whose one exit counts the invocations that end.
const RETURNS_BEFORE_BARRIER: usize = 4;

/// A section has `returns` returns, or one construct with more, or those in front of a barrier. O(words of the function + returns * depth).
pub(super) fn borders(index: &Index<'_>, function: &Function, returns: usize, ends: Option<&CountedEnds>) -> Borders {
    let regions = Regions::new(index, function);
    let mut is_divided = vec![false; regions.all.len()];
    let mut found = Vec::new();
    for (number, region) in regions.all.iter().enumerate().rev() {
        if region.is_in_loop || region.returns <= returns || is_divided.get(number) != Some(&false) {
            continue;
        }
        let borders = regions.borders_of(index, function, region, (returns, ends));
        if borders.len() < 2 {
            continue;
        }
        found.push(borders);
        let mut next = Some(number);
        while let Some(mark) = next.and_then(|next| is_divided.get_mut(next)).filter(|mark| !**mark) {
            *mark = true;
            next = next.and_then(|next| Some(regions.all.get(next)?.around?.0));
        }
    }
    Borders {
        by_region: found,
        returns: regions.returning,
    }
}

impl Regions {
    /// Blocks in the order of their function, which is one of dominance (SPIR-V specification, 2.16.1).
    fn new(index: &Index<'_>, function: &Function) -> Self {
        let blocks = index.blocks_of(function);
        let mut regions = Self {
            all: vec![Region::default()],
            of: vec![None; blocks.len()].into(),
            returns: vec![0; blocks.len()].into(),
            returning: Vec::new(),
        };
        if let Some(first) = regions.of.get_mut(Node::default()) {
            *first = Some(0);
        }
        for (position, block) in blocks.iter().enumerate() {
            let node = Node::from_usize(position);
            let number = regions.of.get(node).copied().flatten();
            let Some((number, region)) = number.and_then(|number| Some((number, regions.all.get_mut(number)?))) else {
                continue;
            };
            region.blocks.push(node);
            let is_in_loop = region.is_in_loop;
            if matches!(index.terminator(block).opcode(), op::Return | op::ReturnValue) && !is_in_loop {
                regions.returning.push(node);
                regions.count_return(number, node);
            }
            for (label, inside) in regions_behind(index, block, is_in_loop) {
                let slot = index.node_of(function, label).and_then(|to| regions.of.get_mut(to));
                let Some(slot) = slot.filter(|slot| slot.is_none()) else {
                    continue;
                };
                *slot = Some(inside.map_or(number, |_| regions.all.len()));
                regions.all.extend(inside.map(|is_in_loop| Region {
                    around: Some((number, node)),
                    is_in_loop,
                    ..Region::default()
                }));
            }
        }
        regions
    }

    fn count_return(&mut self, number: usize, node: Node) {
        let mut next = Some((number, node));
        while let Some((number, node)) = next {
            self.returns.get_mut(node).into_iter().for_each(|count| *count += 1);
            let Some(region) = self.all.get_mut(number) else { break };
            region.returns += 1;
            next = region.around;
        }
    }

    fn borders_of(
        &self,
        index: &Index<'_>,
        function: &Function,
        region: &Region,
        (enough, ends): (usize, Option<&CountedEnds>),
    ) -> Vec<Node> {
        let blocks = index.blocks_of(function);
        let is_border = |node: Node| {
            let block = blocks.get(node.to_usize());
            block.is_some_and(|block| index.loop_merge(block).is_none())
        };
        let has_barrier = |node: Node| {
            let block = ends.zip(blocks.get(node.to_usize()));
            block.is_some_and(|(ends, block)| ends.has_barrier(index, block))
        };
        let mut borders = Vec::new();
        let mut returns = 0;
        for node in &region.blocks {
            let is_due = returns >= enough || returns >= RETURNS_BEFORE_BARRIER && has_barrier(*node);
            if (borders.is_empty() || is_due) && is_border(*node) {
                borders.push(*node);
                returns = 0;
            }
            returns += self.returns.get(*node).copied().unwrap_or_default();
        }
        borders
    }
}

/// The labels that a block leads to. `None`: they are in its region, else in a new one, which may be in a loop.
fn regions_behind(index: &Index<'_>, block: &Block, is_in_loop: bool) -> Vec<(Id, Option<bool>)> {
    let mut found = Vec::new();
    let inside = match index.merge(block) {
        Some(merge) => {
            found.push((merge.merge_block(), None));
            let is_loop = merge.opcode() == op::LoopMerge;
            found.extend(is_loop.then(|| (merge.continue_target(), Some(true))));
            Some(is_loop || is_in_loop)
        }
        None => (index.terminator(block).opcode() != op::Branch).then_some(is_in_loop),
    };
    found.extend(index.successors(block).into_iter().map(|label| (label, inside)));
    found
}
