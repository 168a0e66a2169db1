//! Differences of numbers that were compared: `a - b` behind `a >= b`.

use super::facts::Fact;
use super::interval::Range;
use vkabort_spirv::index::typed::NumberIndex;
use vkabort_spirv::op;

/// The range of `left - right`, of which the ranges are given, by the comparisons of `left` that hold there. `None` if none tells
/// that it does not wrap.
pub(super) fn compared_difference<'f>(
    facts: impl Iterator<Item = &'f Fact>,
    right_number: NumberIndex,
    left: Range,
    right: Range,
) -> Option<Range> {
    let of_right = facts.filter(|fact| fact.other == right_number);
    let least = of_right.filter_map(|fact| least_difference(fact, right)).max()?;
    let most = left.max().checked_sub(right.min()).filter(|most| *most >= least)?;
    Some(Range::unsigned(least, most, left.bits()))
}

/// The least difference of two numbers of which the first one is not below the other by a comparison.
fn least_difference(fact: &Fact, right: Range) -> Option<u64> {
    let is_unsigned = right.smin() >= 0;
    match (fact.opcode, fact.result) {
        (op::UGreaterThan, true) | (op::ULessThanEqual, false) => Some(1),
        (op::UGreaterThanEqual, true) | (op::ULessThan, false) => Some(0),
        (op::SGreaterThan, true) | (op::SLessThanEqual, false) if is_unsigned => Some(1),
        (op::SGreaterThanEqual, true) | (op::SLessThan, false) if is_unsigned => Some(0),
        _ => None,
    }
}
