//! Divides a function with very many early returns into sections.
//!
//! ```text
//! %border: phis, code          becomes   %border: phis, Branch %header
//!          .. Return ..                  %header: LoopMerge %end %again, Branch %body
//! %next:   phis, more                    %body:   code
//!                                                 .. Branch %end ..
//!                                        %next:   phis, Branch %again
//!                                        %again:  BranchConditional %never %header %end
//!                                        %end:    %left = Phi false %again, true ..
//!                                                 SelectionMerge %go, BranchConditional %left %out %go
//!                                        %out:    Return
//!                                        %go:     more
//! ```
//!
//! The time that Mesa takes to compile a loop grows with the cube of its exits: 200 returns and 200 checks in a row took 1.3 s, twice
//! as many 13 s. A section is one exit for the code around it. Where that still has many, the pass is repeated, and sections come into
//! sections. What is behind a section takes the values of the section by phis in `%end` (`crossing`).
//!
//! Code that is left by other branches than returns is in no section: a `case` that ends in a condition.

use super::regions::borders;
use super::write::write;
use super::{Wrapper, deep};
use crate::analysis::dominators::Dominators;
use crate::analysis::index::typed::{Node, Table};
use crate::analysis::index::{Function, Index};
use crate::edit::Edits;
use crate::options::Arena;
use crate::spv::{Id, Inst, op};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

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

/// Divides the functions that nest too deep.
pub(crate) fn divide(index: &Index<'_>, arena: Arena, first_blocks: &HashSet<Id>) -> Edits {
    let mut edits = Edits::default();
    let functions = deep(index, first_blocks);
    if functions.is_empty() {
        return edits;
    }
    let mut wrapper = Wrapper::new(index, arena, &mut edits);
    for deep in functions {
        divide_function(&mut wrapper, deep.function);
    }
    let out = wrapper.out;
    if !edits.is_empty() {
        out.finish(index, &mut edits);
    }
    edits
}

impl<'a, 'w> Division<'a, 'w> {
    /// O(blocks).
    fn new(
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
    fn closed_borders(&self, successors: &Table<Node, Vec<Node>>) -> Vec<Node> {
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

/// Divides one region of a function; the pass is repeated for others.
fn divide_function(wrapper: &mut Wrapper<'_, '_>, function: &Function) {
    let index = wrapper.index;
    let found = borders(index, function);
    if found.by_region.is_empty() {
        return;
    }
    let successors = index.successor_nodes(function);
    let dominators = Dominators::new(&successors);
    for borders in found.by_region {
        let mut division = Division::new(index, function, &dominators, borders, &found.returns);
        let closed = division.closed_borders(&successors);
        if closed.len() < division.borders.len() {
            division = Division::new(index, function, &dominators, closed, &found.returns);
        }
        let is_closed = division.count() > 0 && division.closed_borders(&successors).len() == division.borders.len();
        if is_closed && write(wrapper, &division).is_ok() {
            return;
        }
    }
}
