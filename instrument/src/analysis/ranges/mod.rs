//! Ranges of integers, from constants, masks, the instructions that compute them, and the branches before a block.
//!
//! The arithmetic is in files of its own, which know nothing of modules: `interval` (the set of values), `operations`,
//! `bit_operations`, `glsl_operations`, `comparisons`.

mod bit_operations;
mod comparisons;
mod counters;
mod facts;
mod glsl_operations;
mod interval;
mod local_size;
mod operations;
#[cfg(test)]
mod tests;
mod walk;

use super::index::Index;
use super::index::typed::BlockIndex;
use super::value_flow::{Condition, ValueFlow};
use crate::options::Options;
use crate::spv::{Id, op};
use comparisons::{mirrored, refined};
use facts::{Fact, facts_at, of_conditions};
pub(crate) use interval::Range;
use local_size::local_size;
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;

/// Limit on instructions between a value and what it is computed from.
const MAX_DEPTH: u32 = 12;

/// Limit on instructions that are visited for one question.
const MAX_STEPS: u32 = 256;

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
        self.refined(computed, value, component, depth)
    }

    /// The range under the comparisons that are known to hold.
    fn refined(&mut self, mut range: Range, value: Id, component: Option<u32>, depth: u32) -> Range {
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
                range = refined(range, opcode, fact.result, other).unwrap_or(range);
            }
        }
        range
    }
}
