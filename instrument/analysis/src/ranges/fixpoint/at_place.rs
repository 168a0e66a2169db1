//! Recomputes the range of a number at a place from its operands, under the facts that hold there.

use super::{FunctionRanges, MOST_STEPS};
use crate::ranges::facts::Facts;
use crate::ranges::interval::Range;
use crate::ranges::rules::{Operand, Rule, Solver, result};
use smallvec::SmallVec;
use vkabort_spirv::index::typed::{BlockIndex, NumberIndex};
use vkabort_spirv::op;

/// How many instructions are computed once more one after the other.
const MOST_LEVELS: u32 = 8;

impl FunctionRanges {
    /// The range of a number in a block, where more facts hold.
    pub(in super::super) fn at(
        &mut self,
        solver: &Solver<'_, '_, '_>,
        number: NumberIndex,
        block: BlockIndex,
        more: &Facts,
    ) -> Range {
        let bits = self.bits(solver, number).unwrap_or(64);
        self.solve(solver, number);
        let mut steps = MOST_STEPS;
        let found = if self.facts.is_empty() && more.is_empty() {
            self.solved(number)
        } else {
            self.again(solver, number, (block, more), &mut steps, MOST_LEVELS)
        };
        found.unwrap_or(Range::full(bits))
    }

    /// The range of a number at a place, computed once more from its operands. `None` if the place is not reached. The depth of the
    /// recursion is at most [`MOST_LEVELS`].
    fn again(
        &mut self,
        solver: &Solver<'_, '_, '_>,
        number: NumberIndex,
        (block, more): (BlockIndex, &Facts),
        steps: &mut u32,
        levels: u32,
    ) -> Option<Range> {
        if !more.is_empty() {
            return self.computed_again(solver, number, (block, more), steps, levels);
        }
        let place = (number, block);
        if let Some((with, range)) = self.at_places.get(&place)
            && *with >= levels
        {
            return *range;
        }
        let range = self.computed_again(solver, number, (block, more), steps, levels);
        if *steps > 0 {
            self.at_places.insert(place, (levels, range));
        }
        range
    }

    fn computed_again(
        &mut self,
        solver: &Solver<'_, '_, '_>,
        number: NumberIndex,
        (block, more): (BlockIndex, &Facts),
        steps: &mut u32,
        levels: u32,
    ) -> Option<Range> {
        self.solve(solver, number);
        let bits = self.bits(solver, number)?;
        let current = self.solved(number).unwrap_or(Range::full(bits));
        let place = Operand {
            number,
            block,
            to: None,
        };
        for compared in self.compared(solver, &place, Some(more)) {
            self.solve(solver, compared);
        }
        let current = self.refined(solver, &place, current, Some(more), &|number| self.solved(number))?;
        let is_done = current.min() == current.max() || levels == 0 || *steps == 0;
        // The operands of a phi are those of an earlier iteration.
        let rule = (!is_done).then(|| solver.rule(&mut self.numbers, number, bits));
        let Some(Rule::Operation {
            opcode,
            extended,
            operands,
        }) = rule
        else {
            return Some(current);
        };
        *steps -= 1;
        let mut ranges: SmallVec<[Range; 4]> = SmallVec::new();
        for operand in &operands {
            ranges.push(self.again(solver, operand.number, (block, more), steps, levels - 1)?);
        }
        let here = |operand: &Operand| Operand { block, ..*operand };
        let difference = match (opcode, operands.as_slice()) {
            (op::ISub, [left, right]) => self.difference(solver, (&here(left), right), &ranges, Some(more)),
            _ => None,
        };
        let found = [result(opcode, extended, &ranges, bits), difference]
            .into_iter()
            .flatten();
        Some(found.fold(current, |current, range| current.meet(range).unwrap_or(current)))
    }
}
