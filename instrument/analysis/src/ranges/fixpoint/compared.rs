//! Refines the range of a number by the comparisons that hold at a place.

use super::{FunctionRanges, Numbers};
use crate::ranges::comparisons::refined;
use crate::ranges::differences::compared_difference;
use crate::ranges::facts::{Fact, Facts};
use crate::ranges::interval::Range;
use crate::ranges::rules::{Operand, Solver};
use crate::view::FunctionView;
use vkabort_spirv::index::typed::{BlockIndex, NumberIndex};

impl FunctionRanges {
    /// The range of an operand under the comparisons that hold where it is used, by the ranges that `range_of` gives for the numbers
    /// that it is compared with. `None` if the place is not reached.
    pub(super) fn refined(
        &self,
        solver: &Solver<'_, '_, '_>,
        operand: &Operand,
        range: Range,
        more: Option<&Facts>,
        range_of: &dyn Fn(NumberIndex) -> Option<Range>,
    ) -> Option<Range> {
        if !self.has_facts(operand.number, more) {
            return Some(range);
        }
        let mut range = range;
        // A comparison may give the sign that another one needs.
        for _ in 0..2 {
            for fact in self.facts_of(solver, operand, more) {
                let Some(mut other) = range_of(fact.other) else {
                    continue;
                };
                let of_other = Operand {
                    number: fact.other,
                    ..*operand
                };
                for fact in self
                    .facts_of(solver, &of_other, more)
                    .filter(|fact| fact.other != operand.number)
                {
                    if let Some(third) = range_of(fact.other) {
                        other = refined(other, fact.opcode, fact.result, third)?;
                    }
                }
                range = refined(range, fact.opcode, fact.result, other)?;
            }
        }
        Some(range)
    }

    /// The numbers that an operand is compared with, and those that these are compared with.
    pub(super) fn compared(&self, solver: &Solver<'_, '_, '_>, operand: &Operand, more: Option<&Facts>) -> Numbers {
        let mut found = Numbers::new();
        if !self.has_facts(operand.number, more) {
            return found;
        }
        for fact in self.facts_of(solver, operand, more) {
            let of_other = Operand {
                number: fact.other,
                ..*operand
            };
            found.extend(self.facts_of(solver, &of_other, more).map(|fact| fact.other));
            found.push(fact.other);
        }
        found
    }

    /// The comparisons of a number that hold in a block.
    pub(in super::super) fn facts_in<'f>(
        &'f self,
        function: &'f FunctionView<'_, '_>,
        number: NumberIndex,
        block: BlockIndex,
        more: &'f Facts,
    ) -> impl Iterator<Item = &'f Fact> {
        let own = self.facts.at(function, number, block);
        own.chain(more.at(function, number, block))
    }

    /// Whether a number is compared anywhere. Most are not, which this tells without a walk of dominators.
    fn has_facts(&self, number: NumberIndex, more: Option<&Facts>) -> bool {
        self.facts.has(number) || more.is_some_and(|more| more.has(number))
    }

    /// The comparisons of an operand that hold where it is used.
    fn facts_of<'f>(
        &'f self,
        solver: &'f Solver<'_, '_, '_>,
        operand: &'f Operand,
        more: Option<&'f Facts>,
    ) -> impl Iterator<Item = &'f Fact> {
        let (function, number, block) = (solver.function, operand.number, operand.block);
        let on_edge = operand
            .to
            .into_iter()
            .flat_map(move |to| self.facts.on_edge(number, block, to));
        let more = more.into_iter().flat_map(move |more| more.at(function, number, block));
        self.facts.at(function, number, block).chain(on_edge).chain(more)
    }

    /// The range of a difference by the comparisons of its operands that hold where `left` is used.
    pub(super) fn difference(
        &self,
        solver: &Solver<'_, '_, '_>,
        (left, right): (&Operand, &Operand),
        ranges: &[Range],
        more: Option<&Facts>,
    ) -> Option<Range> {
        let &[of_left, of_right] = ranges else { return None };
        compared_difference(self.facts_of(solver, left, more), right.number, of_left, of_right)
    }
}
