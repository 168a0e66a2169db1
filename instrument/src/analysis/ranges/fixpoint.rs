//! The ranges of the numbers of one function, as a fixpoint.

mod at_place;

use super::comparisons::refined;
use super::differences::compared_difference;
use super::facts::{Fact, Facts};
use super::interval::Range;
use super::keys::{Key, Keys};
use super::rules::{Operand, Rule, Solver, result};
use crate::analysis::index::typed::BlockIndex;
use crate::analysis::view::FunctionView;
use crate::spv::op;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smallvec::SmallVec;

/// How often a range may grow before it is widened.
const GROWTHS: u32 = 3;
/// Passes over all numbers that narrow what was widened.
const NARROWINGS: u32 = 2;
/// Instructions that are computed once more for one question at a place.
pub(super) const MOST_STEPS: u32 = 64;

/// Names, facts and ranges of one function.
pub(super) struct FunctionRanges {
    pub(super) keys: Keys,
    facts: Facts,
    /// `None` for numbers of code that is never reached.
    ranges: HashMap<Key, Option<Range>>,
    /// The ranges of numbers in blocks, under the facts of the function alone, and the levels that were left to find each.
    at_places: HashMap<(Key, BlockIndex), (u32, Option<Range>)>,
}

/// A number whose range is being found.
struct Node {
    key: Key,
    rule: Rule,
    bits: u32,
    /// `None`: nothing yet.
    range: Option<Range>,
    growths: u32,
    /// Positions of the numbers that depend on it.
    dependents: Vec<usize>,
}

impl FunctionRanges {
    pub(super) fn new(function: &FunctionView<'_, '_>) -> Self {
        let mut keys = Keys::default();
        Self {
            facts: Facts::new(function, &mut keys),
            keys,
            ranges: HashMap::default(),
            at_places: HashMap::default(),
        }
    }

    /// The range of an operand under the comparisons that hold where it is used, by the ranges that `range_of` gives for the numbers
    /// that it is compared with. `None` if the place is not reached.
    fn refined(
        &self,
        solver: &Solver<'_, '_, '_>,
        operand: &Operand,
        range: Range,
        more: Option<&Facts>,
        range_of: &dyn Fn(&Key) -> Option<Range>,
    ) -> Option<Range> {
        let mut range = range;
        // A comparison may give the sign that another one needs.
        for _ in 0..2 {
            for fact in self.facts_of(solver, operand, more) {
                let Some(mut other) = range_of(&fact.other) else {
                    continue;
                };
                let of_other = Operand {
                    key: fact.other.clone(),
                    bits: operand.bits,
                    ..operand.clone()
                };
                for fact in self
                    .facts_of(solver, &of_other, more)
                    .filter(|fact| fact.other != operand.key)
                {
                    if let Some(third) = range_of(&fact.other) {
                        other = refined(other, fact.opcode, fact.result, third)?;
                    }
                }
                range = refined(range, fact.opcode, fact.result, other)?;
            }
        }
        Some(range)
    }

    /// The numbers that an operand is compared with, and those that these are compared with.
    fn compared(&self, solver: &Solver<'_, '_, '_>, operand: &Operand, more: Option<&Facts>) -> HashSet<Key> {
        let mut found = HashSet::default();
        for fact in self.facts_of(solver, operand, more) {
            let of_other = Operand {
                key: fact.other.clone(),
                ..operand.clone()
            };
            found.extend(self.facts_of(solver, &of_other, more).map(|fact| fact.other.clone()));
            found.insert(of_other.key);
        }
        found
    }

    /// The comparisons of a number that hold in a block.
    pub(super) fn facts_in<'f>(
        &'f self,
        function: &'f FunctionView<'_, '_>,
        key: &Key,
        block: BlockIndex,
        more: &'f Facts,
    ) -> impl Iterator<Item = &'f Fact> {
        let own = self.facts.at(function, key, block);
        own.chain(more.at(function, key, block))
    }

    /// The comparisons of an operand that hold where it is used.
    fn facts_of<'f>(
        &'f self,
        solver: &'f Solver<'_, '_, '_>,
        operand: &'f Operand,
        more: Option<&'f Facts>,
    ) -> impl Iterator<Item = &'f Fact> {
        let (function, key, block) = (solver.function, &operand.key, operand.block);
        let on_edge = operand
            .to
            .into_iter()
            .flat_map(move |to| self.facts.on_edge(key, block, to));
        let more = more.into_iter().flat_map(move |more| more.at(function, key, block));
        self.facts.at(function, key, block).chain(on_edge).chain(more)
    }

    /// The range of a difference by the comparisons of its operands that hold where `left` is used.
    fn difference(
        &self,
        solver: &Solver<'_, '_, '_>,
        (left, right): (&Operand, &Operand),
        ranges: &[Range],
        more: Option<&Facts>,
    ) -> Option<Range> {
        let &[of_left, of_right] = ranges else { return None };
        compared_difference(self.facts_of(solver, left, more), &right.key, of_left, of_right)
    }

    /// Finds the range of a number, and of all that it depends on.
    fn solve(&mut self, solver: &Solver<'_, '_, '_>, key: &Key) {
        if self.ranges.contains_key(key) {
            return;
        }
        let (mut nodes, positions) = self.discover(solver, key);
        // Those that a number depends on come behind it.
        let mut worklist: Vec<usize> = (0..nodes.len()).collect();
        let mut is_queued = vec![true; nodes.len()];
        while let Some(position) = worklist.pop() {
            if let Some(mark) = is_queued.get_mut(position) {
                *mark = false;
            }
            let Some(node) = nodes.get(position) else { continue };
            let new = self.evaluate(solver, node, &nodes, &positions);
            let Some(node) = nodes.get_mut(position) else { continue };
            let joined = match (node.range, new) {
                (None, new) => new,
                (old, None) => old,
                (Some(old), Some(new)) => Some(old.join(new)),
            };
            if joined == node.range {
                continue;
            }
            node.growths += 1;
            node.range = match (node.range, joined) {
                (Some(old), Some(joined)) if node.growths > GROWTHS => Some(old.widen(joined)),
                _ => joined,
            };
            for dependent in node.dependents.clone() {
                if let Some(mark) = is_queued.get_mut(dependent).filter(|mark| !**mark) {
                    *mark = true;
                    worklist.push(dependent);
                }
            }
        }
        for _ in 0..NARROWINGS {
            for position in (0..nodes.len()).rev() {
                let Some(node) = nodes.get(position) else { continue };
                let new = self.evaluate(solver, node, &nodes, &positions);
                if let Some(node) = nodes.get_mut(position)
                    && let (Some(old), Some(new)) = (node.range, new)
                {
                    node.range = old.meet(new).or(Some(old));
                }
            }
        }
        self.ranges.extend(nodes.into_iter().map(|node| (node.key, node.range)));
    }

    /// The number and all that it depends on, without those whose range is known, by position.
    fn discover(&mut self, solver: &Solver<'_, '_, '_>, key: &Key) -> (Vec<Node>, HashMap<Key, usize>) {
        let (mut nodes, mut positions): (Vec<Node>, HashMap<Key, usize>) = (Vec::new(), HashMap::default());
        let mut links: Vec<(usize, Key)> = Vec::new();
        let mut worklist = vec![key.clone()];
        while let Some(key) = worklist.pop() {
            if positions.contains_key(&key) || self.ranges.contains_key(&key) {
                continue;
            }
            let position = nodes.len();
            positions.insert(key.clone(), position);
            let bits = solver.bits(&key).unwrap_or(64);
            let rule = solver.rule(&mut self.keys, &key, bits);
            let operands: Vec<Operand> = match &rule {
                Rule::Fixed(_) => Vec::new(),
                Rule::Join(operands) => operands.clone(),
                Rule::Operation { operands, .. } => operands.clone(),
            };
            let mut needed: HashSet<Key> = HashSet::default();
            for operand in operands {
                needed.extend(self.compared(solver, &operand, None));
                needed.insert(operand.key);
            }
            links.extend(needed.iter().map(|needed| (position, needed.clone())));
            worklist.extend(needed);
            nodes.push(Node {
                key,
                rule,
                bits,
                range: None,
                growths: 0,
                dependents: Vec::new(),
            });
        }
        for (position, needed) in links {
            if let Some(node) = positions.get(&needed).and_then(|needed| nodes.get_mut(*needed)) {
                node.dependents.push(position);
            }
        }
        (nodes, positions)
    }

    /// The range of a number by those of its operands. `None` if nothing is known of one of them yet.
    fn evaluate(
        &self,
        solver: &Solver<'_, '_, '_>,
        node: &Node,
        nodes: &[Node],
        positions: &HashMap<Key, usize>,
    ) -> Option<Range> {
        let range_of = |key: &Key| match positions.get(key) {
            Some(position) => nodes.get(*position)?.range,
            None => self.ranges.get(key).copied().flatten(),
        };
        let operand = |operand: &Operand| {
            let range = range_of(&operand.key)?;
            self.refined(solver, operand, range, None, &range_of)
        };
        match &node.rule {
            Rule::Fixed(range) => Some(*range),
            Rule::Join(operands) => operands.iter().filter_map(operand).reduce(Range::join),
            Rule::Operation {
                opcode,
                extended,
                operands,
            } => {
                let ranges: SmallVec<[Range; 4]> = operands.iter().map(operand).collect::<Option<_>>()?;
                let range = result(*opcode, *extended, &ranges, node.bits).unwrap_or(Range::full(node.bits));
                let difference = match (*opcode, operands.as_slice()) {
                    (op::ISub, [left, right]) => self.difference(solver, (left, right), &ranges, None),
                    _ => None,
                };
                Some(
                    difference
                        .and_then(|difference| range.meet(difference))
                        .unwrap_or(range),
                )
            }
        }
    }
}
