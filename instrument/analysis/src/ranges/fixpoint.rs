//! The ranges of the numbers of one function, as a fixpoint.

mod at_place;
mod compared;

use super::facts::Facts;
use super::interval::Range;
use super::rules::{Operand, Rule, Solver, result};
use super::value_numbers::ValueNumbers;
use crate::view::FunctionView;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use vkabort_spirv::index::typed::{BlockIndex, NumberIndex, Table};
use vkabort_spirv::op;

/// How often a range may grow before it is widened.
const GROWTHS: u32 = 3;
/// Passes over all numbers that narrow widened ranges.
const NARROWINGS: u32 = 2;
/// Instructions that are computed once more for one question at a place.
pub(super) const MOST_STEPS: u32 = 64;

/// Names, facts and ranges of one function.
pub(super) struct FunctionRanges {
    pub(super) numbers: ValueNumbers,
    facts: Facts,
    /// As far as any was asked for.
    ranges: Table<NumberIndex, NumberState>,
    /// The ranges of numbers in blocks, under the facts of the function alone, and the levels that were left to find each.
    at_places: HashMap<(NumberIndex, BlockIndex), (u32, Option<Range>)>,
}

/// State of a number in the fixpoint.
#[derive(Clone, Copy, Default, PartialEq)]
enum NumberState {
    #[default]
    NotYet,
    /// It is computed by code that is never reached.
    Unreached,
    In(Range),
}

type Numbers = SmallVec<[NumberIndex; 8]>;
/// Positions of nodes.
type Positions = HashMap<NumberIndex, usize>;

/// A number whose range is being found.
struct Node {
    number: NumberIndex,
    rule: Rule,
    bits: u32,
    /// `None`: nothing yet.
    range: Option<Range>,
    growths: u32,
    /// Positions of the numbers that depend on it.
    dependents: SmallVec<[usize; 2]>,
}

impl FunctionRanges {
    pub(super) fn new(function: &FunctionView<'_, '_>) -> Self {
        let mut numbers = ValueNumbers::default();
        Self {
            facts: Facts::new(function, &mut numbers),
            numbers,
            ranges: Table::default(),
            at_places: HashMap::default(),
        }
    }

    /// Width of a number. `None` for other values than integers.
    fn bits(&self, solver: &Solver<'_, '_, '_>, number: NumberIndex) -> Option<u32> {
        solver.bits(self.numbers.get(number)?)
    }

    /// The range that was found for a number. `None` for numbers of code that is never reached.
    fn solved(&self, number: NumberIndex) -> Option<Range> {
        match self.ranges.get(number) {
            Some(NumberState::In(range)) => Some(*range),
            _ => None,
        }
    }

    fn is_solved(&self, number: NumberIndex) -> bool {
        let found = self.ranges.get(number);
        found.is_some_and(|found| *found != NumberState::NotYet)
    }

    /// Finds the range of a number, and of all that it depends on.
    fn solve(&mut self, solver: &Solver<'_, '_, '_>, number: NumberIndex) {
        if self.is_solved(number) {
            return;
        }
        let (mut nodes, positions) = self.discover(solver, number);
        // Those that a number depends on come behind it.
        let mut worklist: Vec<usize> = (0..nodes.len()).collect();
        let mut is_queued = vec![true; nodes.len()];
        let mut has_regrown = false;
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
            has_regrown |= node.growths > 1;
            node.range = match (node.range, joined) {
                (Some(old), Some(joined)) if node.growths > GROWTHS => Some(old.widen(joined)),
                _ => joined,
            };
            for dependent in node.dependents.iter().copied() {
                if let Some(mark) = is_queued.get_mut(dependent).filter(|mark| !**mark) {
                    *mark = true;
                    worklist.push(dependent);
                }
            }
        }
        // What was computed once, from operands that were known, is exact.
        let narrowings = if has_regrown { NARROWINGS } else { 0 };
        for _ in 0..narrowings {
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
        for node in nodes {
            self.ranges
                .put(node.number, node.range.map_or(NumberState::Unreached, NumberState::In));
        }
    }

    /// The number and all that it depends on, without those whose range is known, by position.
    fn discover(&mut self, solver: &Solver<'_, '_, '_>, number: NumberIndex) -> (Vec<Node>, Positions) {
        let (mut nodes, mut positions): (Vec<Node>, Positions) = (Vec::new(), Positions::default());
        let mut links: Vec<(usize, NumberIndex)> = Vec::new();
        let mut worklist = vec![number];
        while let Some(number) = worklist.pop() {
            if positions.contains_key(&number) || self.is_solved(number) {
                continue;
            }
            let position = nodes.len();
            positions.insert(number, position);
            let bits = self.bits(solver, number).unwrap_or(64);
            let rule = solver.rule(&mut self.numbers, number, bits);
            let mut needed = Numbers::new();
            for operand in rule.operands() {
                needed.extend(self.compared(solver, operand, None));
                needed.push(operand.number);
            }
            needed.sort_unstable();
            needed.dedup();
            links.extend(needed.iter().map(|needed| (position, *needed)));
            worklist.extend(needed);
            nodes.push(Node {
                number,
                rule,
                bits,
                range: None,
                growths: 0,
                dependents: SmallVec::new(),
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
        positions: &Positions,
    ) -> Option<Range> {
        let range_of = |number: NumberIndex| match positions.get(&number) {
            Some(position) => nodes.get(*position)?.range,
            None => self.solved(number),
        };
        let operand = |operand: &Operand| {
            let range = range_of(operand.number)?;
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
