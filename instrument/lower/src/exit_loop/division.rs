//! The sections of a region, and the section of each block.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vkabort_analysis::dominators::Dominators;
use vkabort_spirv::index::typed::{Node, Table};
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::{Inst, op};

/// A region that is divided.
pub(super) struct Division<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) function: &'a Function,
    pub(super) dominators: &'a Dominators,
    pub(super) borders: Vec<Node>,
    /// Positions of the borders.
    numbers: HashMap<Node, usize>,
    /// By block: the section of its end. [`Division::count`]: behind the last one.
    sections: Table<Node, Option<usize>>,
    /// Blocks that return from a section.
    pub(super) exits: HashSet<Node>,
}

impl<'a, 'w> Division<'a, 'w> {
    /// O(blocks).
    pub(super) fn new(
        index: &'a Index<'w>,
        function: &'a Function,
        dominators: &'a Dominators,
        borders: Vec<Node>,
        returns: &[Node],
    ) -> Self {
        let numbers = borders.iter().enumerate().map(|(number, node)| (*node, number));
        let numbers: HashMap<Node, usize> = numbers.collect();
        let blocks = index.blocks_of(function).len();
        let mut sections: Table<Node, Option<usize>> = vec![None; blocks].into();
        for node in dominators.preorder() {
            let above = || sections.get(dominators.parent(node)?).copied().flatten();
            let section = numbers.get(&node).copied().or_else(above);
            if let Some(slot) = sections.get_mut(node) {
                *slot = section;
            }
        }
        let mut division = Self {
            index,
            function,
            dominators,
            borders,
            numbers,
            sections,
            exits: HashSet::default(),
        };
        let exits = returns.iter().copied().filter(|node| division.is_inside(*node));
        division.exits = exits.collect();
        division
    }

    /// How many sections there are.
    pub(super) fn count(&self) -> usize {
        self.borders.len().saturating_sub(1)
    }

    pub(super) fn border(&self, node: Node) -> Option<usize> {
        self.numbers.get(&node).copied()
    }

    fn is_inside(&self, node: Node) -> bool {
        self.section(node).is_some_and(|section| section < self.count())
    }

    /// The section of the end of a block.
    pub(super) fn section(&self, node: Node) -> Option<usize> {
        self.sections.get(node).copied().flatten()
    }

    /// The section of an instruction of a block: the phis of a border belong to the section before.
    pub(super) fn section_of(&self, inst: &Inst<'_>, node: Node) -> Option<usize> {
        match self.border(node) {
            Some(border) if inst.opcode() == op::Phi => border.checked_sub(1),
            _ => self.section(node),
        }
    }

    /// The borders of the longest run of sections that branches enter only at their borders, and leave only to the next one.
    pub(super) fn closed_borders(&self, successors: &Table<Node, Vec<Node>>) -> Vec<Node> {
        let behind = Some(self.count());
        let mut is_open = vec![false; self.count()];
        for (from, next) in successors
            .iter()
            .filter(|(node, _)| self.dominators.is_reachable(*node))
        {
            let section = self.section(from);
            for to in next {
                let is_closed = match self.border(*to) {
                    Some(border) => section == border.checked_sub(1),
                    None => self.section(*to) == section || section == behind && self.section(*to).is_none(),
                };
                for open in [section, self.section(*to)]
                    .into_iter()
                    .flatten()
                    .filter(|_| !is_closed)
                {
                    is_open.get_mut(open).into_iter().for_each(|mark| *mark = true);
                }
            }
        }
        let (mut start, mut best) = (0, 0..0);
        for (number, is_open) in is_open.iter().chain([&true]).enumerate() {
            if *is_open {
                if number - start > best.len() {
                    best = start..number;
                }
                start = number + 1;
            }
        }
        self.borders.get(best.start..=best.end).unwrap_or_default().to_vec()
    }
}
