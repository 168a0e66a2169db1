//! Ranges of integers, from constants, masks, the instructions that compute them, and the branches before a block.
//!
//! Values are unsigned, at their width: a range with a maximum below the sign bit is one of values that are not negative.

mod counters;
mod facts;
mod local_size;
mod operations;

use super::index::Index;
use super::index::typed::BlockIndex;
use super::value_flow::{Condition, ValueFlow};
use crate::options::Options;
use crate::spv::{Id, op};
use facts::{Fact, facts_at, of_conditions};
use local_size::local_size;
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

/// Limit on instructions between a value and what it is computed from.
const MAX_DEPTH: u32 = 12;

/// Limit on instructions that are visited for one question.
const MAX_STEPS: u32 = 256;

/// The least and the greatest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Range {
    /// All values of a width of 1 to 64 bits.
    fn full(bits: u32) -> Self {
        Self {
            min: 0,
            max: u64::MAX >> (64 - bits.clamp(1, 64)),
        }
    }

    fn only(value: u64) -> Self {
        Self { min: value, max: value }
    }

    fn or(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// A place in a function: what is known there.
pub(crate) struct PointFacts<'f, 'a, 'w> {
    flow: &'f ValueFlow<'a, 'w>,
    facts: Rc<Vec<Fact>>,
    more: Vec<Fact>,
}

/// The ranges of the values of a function.
pub(crate) struct Ranges<'a, 'w> {
    index: &'a Index<'w>,
    options: &'a Options,
    facts: HashMap<BlockIndex, Rc<Vec<Fact>>>,
    /// The product and the parts of the workgroup size, if all entry points have one that is constant.
    local_size: Option<[u32; 3]>,
}

/// A question for one range.
struct Question<'q, 'a, 'w> {
    ranges: &'q Ranges<'a, 'w>,
    at_point: &'q PointFacts<'q, 'a, 'w>,
    steps: u32,
}

impl<'a, 'w> Ranges<'a, 'w> {
    pub(crate) fn new(index: &'a Index<'w>, options: &'a Options) -> Self {
        Self {
            index,
            options,
            facts: HashMap::default(),
            local_size: local_size(index),
        }
    }

    /// What holds in a block under conditions.
    pub(crate) fn facts_at<'f>(
        &mut self,
        flow: &'f ValueFlow<'a, 'w>,
        block: BlockIndex,
        conditions: &[Condition],
    ) -> PointFacts<'f, 'a, 'w> {
        let facts = self.facts.entry(block);
        let facts = facts.or_insert_with(|| Rc::new(facts_at(self.index, flow, block)));
        PointFacts {
            flow,
            facts: facts.clone(),
            more: of_conditions(self.index, conditions),
        }
    }

    /// The range of an integer or of a component of a vector.
    pub(crate) fn range(&self, at_point: &PointFacts<'_, 'a, 'w>, value: Id, component: Option<u32>) -> Range {
        let mut question = Question {
            ranges: self,
            at_point,
            steps: MAX_STEPS,
        };
        question.range(value, component, 0)
    }

    /// Width of an integer type or of the components of a vector of integers.
    pub(crate) fn bits(&self, value: Id) -> Option<u32> {
        let mut ty = self.index.def(self.index.type_of(value))?;
        if ty.opcode() == op::TypeVector {
            ty = self.index.def(ty.element_type())?;
        }
        (ty.opcode() == op::TypeInt && (1..=64).contains(&ty.width())).then(|| ty.width())
    }
}

impl Question<'_, '_, '_> {
    fn range(&mut self, value: Id, component: Option<u32>, depth: u32) -> Range {
        let index = self.ranges.index;
        let Some(bits) = self.ranges.bits(value) else {
            return Range::full(64);
        };
        let full = Range::full(bits);
        let Some(inst) = index.def(value).filter(|_| depth < MAX_DEPTH && self.steps > 0) else {
            return full;
        };
        self.steps -= 1;
        let computed = self.computed(&inst, component, bits, depth).unwrap_or(full);
        let computed = Range {
            min: computed.min,
            max: computed.max.min(full.max),
        };
        self.refined(computed, value, component, bits, depth)
    }

    /// The range under the comparisons that are known to hold.
    fn refined(&mut self, mut range: Range, value: Id, component: Option<u32>, bits: u32, depth: u32) -> Range {
        let at_point = self.at_point;
        // A comparison may give the sign that another one needs.
        for _ in 0..2 {
            for fact in at_point.facts.iter().chain(&at_point.more) {
                let Some(comparison) = self.ranges.index.def(fact.comparison) else {
                    continue;
                };
                if comparison.words.len() != 5 || fact.component.is_some() && fact.component != component {
                    continue;
                }
                let (left, right) = (comparison.id(3), comparison.id(4));
                let (opcode, other) = match (at_point.flow.is_same(left, value), at_point.flow.is_same(right, value)) {
                    (true, false) => (comparison.opcode(), right),
                    (false, true) => (mirrored(comparison.opcode()), left),
                    _ => continue,
                };
                let other = match self.ranges.index.opcode(other) {
                    op::Constant | op::ConstantComposite | op::ConstantNull => self.range(other, component, depth + 1),
                    _ if depth < 2 => self.range(other, component, MAX_DEPTH.min(depth + 8)),
                    _ => continue,
                };
                range = refine(range, opcode, fact.result, other, bits).unwrap_or(range);
            }
        }
        range
    }
}

/// The comparison with its operands swapped.
fn mirrored(opcode: u16) -> u16 {
    match opcode {
        op::UGreaterThan => op::ULessThan,
        op::ULessThan => op::UGreaterThan,
        op::UGreaterThanEqual => op::ULessThanEqual,
        op::ULessThanEqual => op::UGreaterThanEqual,
        op::SGreaterThan => op::SLessThan,
        op::SLessThan => op::SGreaterThan,
        op::SGreaterThanEqual => op::SLessThanEqual,
        op::SLessThanEqual => op::SGreaterThanEqual,
        other => other,
    }
}

/// `range` of a value whose comparison with `other` has a result. `None` if that says nothing.
fn refine(range: Range, opcode: u16, result: bool, other: Range, bits: u32) -> Option<Range> {
    let positive = Range::full(bits).max >> 1;
    let is_signed = matches!(
        opcode,
        op::SGreaterThan | op::SGreaterThanEqual | op::SLessThan | op::SLessThanEqual
    );
    let Range { min, max } = range;
    // In terms of `<`, `<=`, `>`, `>=`, and of equality.
    let below = |end: u64| {
        end.checked_sub(1).map(|last| Range {
            min,
            max: max.min(last),
        })
    };
    let up_to = |last: u64| {
        Some(Range {
            min,
            max: max.min(last),
        })
    };
    let from = |first: u64| {
        Some(Range {
            min: min.max(first),
            max,
        })
    };
    if is_signed && other.max > positive {
        return None;
    }
    let new = match (opcode, result) {
        (op::IEqual, true) | (op::INotEqual, false) => Some(Range {
            min: min.max(other.min),
            max: max.min(other.max),
        }),
        (op::IEqual, false) | (op::INotEqual, true) => match other.min == other.max {
            true if min == other.min => from(min.checked_add(1)?),
            true if max == other.min => below(max),
            _ => None,
        },
        (op::ULessThan, true) | (op::UGreaterThanEqual, false) => below(other.max),
        (op::ULessThanEqual, true) | (op::UGreaterThan, false) => up_to(other.max),
        (op::UGreaterThan, true) | (op::ULessThanEqual, false) => from(other.min.checked_add(1)?),
        (op::UGreaterThanEqual, true) | (op::ULessThan, false) => from(other.min),
        // A value that is not negative compares like an unsigned one.
        (op::SLessThan, true) | (op::SGreaterThanEqual, false) if max <= positive => below(other.max),
        (op::SLessThanEqual, true) | (op::SGreaterThan, false) if max <= positive => up_to(other.max),
        // Values at least as large as one that is not negative are not negative.
        (op::SGreaterThan, true) | (op::SLessThanEqual, false) => Some(Range {
            min: min.max(other.min.checked_add(1)?),
            max: max.min(positive),
        }),
        (op::SGreaterThanEqual, true) | (op::SLessThan, false) => Some(Range {
            min: min.max(other.min),
            max: max.min(positive),
        }),
        _ => None,
    };
    // An empty range: the place is not reached.
    new.filter(|new| new.min <= new.max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_narrow_ranges() {
        let full = Range::full(32);
        let at = |range, opcode, result, value| refine(range, opcode, result, Range::only(value), 32);
        let range = |min, max| Some(Range { min, max });
        assert_eq!(at(full, op::ULessThan, true, 64), range(0, 63));
        assert_eq!(at(full, op::UGreaterThanEqual, false, 64), range(0, 63));
        assert_eq!(at(full, op::INotEqual, true, 0), range(1, u64::from(u32::MAX)));
        assert_eq!(at(full, op::INotEqual, true, 5), None);
        // A negative number is below 64, and no range.
        assert_eq!(at(full, op::SLessThan, true, 64), None);
        let positive = at(full, op::SGreaterThanEqual, true, 0);
        assert_eq!(positive, range(0, u64::from(u32::MAX >> 1)));
        assert_eq!(positive.and_then(|p| at(p, op::SLessThan, true, 64)), range(0, 63));
        assert_eq!(at(full, op::SGreaterThan, true, u64::from(u32::MAX)), None);
        assert_eq!(at(full, op::ULessThan, true, 0), None);
        assert_eq!(mirrored(op::ULessThan), op::UGreaterThan);
    }
}
