//! Which values can an integer have at a place?
//!
//! A range is an interval of the unsigned and one of the signed values of an integer ([`interval`]). It follows from what computes the
//! value ([`operations`]) and from the comparisons on the way to the place ([`facts`], [`comparisons`]):
//!
//! ```text
//! for (int i = 0; i < 16; i++)       i: phi of 0 and i + 1, and below 16 in the body: 0 to 15, behind the loop 0 to 16
//!     a[i & 3]                       0 to 3
//! ```
//!
//! Loads and copies have the name of the number that they take ([`keys`]), so that a comparison of one load holds for the others of the
//! same stores, and an unoptimised module has the ranges of an optimised one.
//!
//! A parameter has the ranges of the arguments of all calls ([`parameters`]).
//!
//! The first question about a number finds all numbers that it depends on, and their ranges as a fixpoint: they begin empty and
//! grow; one that has grown [`GROWTHS`] times is widened, so that a loop ends in a few steps; then two passes take back what the widening
//! has given too much ([`fixpoint`]). Later questions have the answer. O(instructions) for a function.
//!
//! At a place behind a comparison, what was computed before it is computed once more from the operands as they are known there, through
//! up to [`fixpoint::MOST_STEPS`] instructions.

mod bit_operations;
mod comparisons;
mod differences;
mod facts;
mod fixpoint;
mod glsl_operations;
mod interval;
mod keys;
mod local_size;
mod operations;
mod parameters;
mod rules;
#[cfg(test)]
mod tests;

use super::effects::Condition;
use super::index::typed::{BlockIndex, DefIndex, FunctionIndex, Key as _};
use super::view::path::Path;
use super::view::{FunctionView, ModuleView};
use crate::options::Options;
use crate::spv::Id;
use facts::Facts;
use fixpoint::FunctionRanges;
pub(crate) use interval::Range;
use keys::{Key, Keys};
use local_size::LocalSize;
use parameters::Parameters;
use rules::integer_bits;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

/// A place in a function: what is known there.
pub(crate) struct RangePoint<'v, 'a, 'w> {
    function: &'v FunctionView<'a, 'w>,
    block: BlockIndex,
    facts: Facts,
}

/// The ranges of the values of a module.
pub(crate) struct Ranges<'v, 'a, 'w> {
    view: &'v ModuleView<'a, 'w>,
    options: &'a Options,
    local_size: LocalSize,
    parameters: Parameters,
    functions: HashMap<FunctionIndex, FunctionRanges>,
}

impl<'v, 'a, 'w> Ranges<'v, 'a, 'w> {
    /// Computes nothing yet.
    pub(crate) fn new(view: &'v ModuleView<'a, 'w>, options: &'a Options) -> Self {
        Self {
            view,
            options,
            local_size: LocalSize::new(view.index, options),
            parameters: Parameters::default(),
            functions: HashMap::default(),
        }
    }

    /// What holds in a block of a function under conditions.
    pub(crate) fn at(
        &mut self,
        function: &'v FunctionView<'a, 'w>,
        block: BlockIndex,
        conditions: &[Condition],
    ) -> RangePoint<'v, 'a, 'w> {
        let ranges = self
            .functions
            .entry(function.number)
            .or_insert_with(|| FunctionRanges::new(function));
        RangePoint {
            function,
            block,
            facts: Facts::of_conditions(function, &mut ranges.keys, conditions, block),
        }
    }

    /// The range of an integer or of a component of a vector.
    pub(crate) fn range(&mut self, point: &RangePoint<'v, 'a, 'w>, value: Id, component: Option<u32>) -> Range {
        let path = component.into_iter().collect();
        self.answer(point, |keys| keys.name(point.function, value, path))
    }

    /// Whether an integer is certain to be below a constant that a pipeline may specialise.
    pub(crate) fn is_below(&mut self, point: &RangePoint<'v, 'a, 'w>, value: Id, bound: Id) -> bool {
        let is_positive = self.range(point, value, None).smin() >= 0;
        let function = point.function;
        let bound = local_size::constituent(self.view.index, bound);
        let ranges = self
            .functions
            .entry(function.number)
            .or_insert_with(|| FunctionRanges::new(function));
        let key = ranges.keys.name(function, value, Path::new());
        if let Key::Value(variable, path) = &key
            && self.local_size.bounds(self.view.index, *variable, path, bound)
        {
            return true;
        }
        let other = ranges.keys.name(function, bound, Path::new());
        let mut facts = ranges.facts_in(function, &key, point.block, &point.facts);
        facts.any(|fact| fact.other == other && fact.is_below(is_positive))
    }

    /// Words that name a number, the same for all loads and copies of it in the function.
    pub(crate) fn name(&mut self, function: &'v FunctionView<'a, 'w>, value: Id) -> SmallVec<[u32; 8]> {
        let ranges = self
            .functions
            .entry(function.number)
            .or_insert_with(|| FunctionRanges::new(function));
        let key = ranges.keys.name(function, value, Path::new());
        let (kind, of, path) = match &key {
            Key::Value(id, path) => (0, id.word(), path),
            Key::Memory(definition, path) => (1, definition.to_usize() as u32, path),
        };
        [path.len() as u32 * 2 + kind, of]
            .into_iter()
            .chain(path.iter().copied())
            .collect()
    }

    /// The range of a part of what a definition holds.
    fn range_held(&mut self, point: &RangePoint<'v, 'a, 'w>, definition: DefIndex, path: Path) -> Range {
        self.answer(point, |keys| keys.held(point.function, definition, path))
    }

    fn answer(&mut self, point: &RangePoint<'v, 'a, 'w>, name: impl FnOnce(&mut Keys) -> Key) -> Range {
        let function = point.function;
        self.find_parameters(function.number);
        let ranges = self
            .functions
            .entry(function.number)
            .or_insert_with(|| FunctionRanges::new(function));
        let solver = rules::Solver {
            function,
            options: self.options,
            local_size: &self.local_size,
            parameters: &self.parameters,
            glsl: &self.view.glsl,
        };
        let key = name(&mut ranges.keys);
        ranges.at(&solver, &key, point.block, &point.facts)
    }

    /// Width of an integer type or of the components of a vector of integers.
    pub(crate) fn bits(&self, value: Id) -> Option<u32> {
        let index = self.view.index;
        integer_bits(index, index.type_of(value))
    }
}
