//! Computes the values that an integer can have at a place.
//!
//! A range is an interval of the unsigned and one of the signed values of an integer ([`interval`]). It follows from the
//! operation ([`operations`]) and from the comparisons on the way to the place ([`facts`], [`comparisons`]):
//!
//! ```text
//! for (int i = 0; i < 16; i++)       i: phi of 0 and i + 1, and below 16 in the body: 0 to 15, behind the loop 0 to 16
//!     a[i & 3]                       0 to 3
//! ```
//!
//! Loads and copies have the number of the value that they take ([`value_numbers`]), so that a comparison of one load holds for the others of the
//! same stores, and an unoptimised module has the ranges of an optimised one.
//!
//! A parameter has the ranges of the arguments of all calls ([`parameters`]).
//!
//! The first question about a number finds all numbers that it depends on, and their ranges as a fixpoint: they begin empty and
//! grow; one that has grown [`GROWTHS`] times is widened, so that a loop ends in a few steps; then two passes take back what the widening
//! has given too much ([`fixpoint`]). Later questions have the answer. O(instructions) for a function.
//!
//! At a place behind a comparison, a value from before it is computed once more from the operands as they are known there, through
//! up to [`fixpoint::MOST_STEPS`] instructions.

mod bit_operations;
mod comparisons;
mod differences;
mod facts;
mod fixpoint;
mod glsl_operations;
mod interval;
mod local_size;
mod operations;
mod outcomes;
mod parameters;
mod rules;
#[cfg(test)]
mod tests;
mod unpacked;
mod value_numbers;
mod widths;

use super::effects::Condition;
use super::view::path::Path;
use super::view::{AccessKind, FunctionView, ModuleView};
use facts::Facts;
use fixpoint::FunctionRanges;
pub(crate) use interval::Range;
use local_size::LocalSize;
use parameters::{Parameter, Parameters, integer_parameters};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use value_numbers::{NumberedPart, ValueNumbers};
use vkabort_options::Options;
use vkabort_spirv::Id;
use vkabort_spirv::index::typed::{BlockIndex, DefIndex, FunctionIndex, Key as _, NumberIndex};
use widths::integer_bits;

/// A place in a function, with the facts that hold there.
pub struct RangePoint<'v, 'a, 'w> {
    function: &'v FunctionView<'a, 'w>,
    block: BlockIndex,
    facts: Facts,
}

/// The ranges of the values of a module.
pub struct Ranges<'v, 'a, 'w> {
    view: &'v ModuleView<'a, 'w>,
    options: &'a Options,
    local_size: LocalSize,
    parameters: Parameters,
    functions: HashMap<FunctionIndex, FunctionRanges>,
}

impl<'v, 'a, 'w> Ranges<'v, 'a, 'w> {
    /// Computes nothing yet.
    pub fn new(view: &'v ModuleView<'a, 'w>, options: &'a Options) -> Self {
        Self {
            view,
            options,
            local_size: LocalSize::new(view.index, options),
            parameters: Parameters::default(),
            functions: HashMap::default(),
        }
    }

    /// The facts that hold in a block of a function under conditions.
    pub fn at(
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
            facts: Facts::of_conditions(function, &mut ranges.numbers, conditions, block),
        }
    }

    /// The range of an integer or of a component of a vector.
    pub fn range(&mut self, point: &RangePoint<'v, 'a, 'w>, value: Id, component: Option<u32>) -> Range {
        let path = component.into_iter().collect();
        self.answer(point, |numbers| numbers.number(point.function, value, path))
    }

    /// Whether an integer is certain to be below a constant that a pipeline may specialise.
    pub fn is_below(&mut self, point: &RangePoint<'v, 'a, 'w>, value: Id, bound: Id) -> bool {
        let is_positive = self.range(point, value, None).smin() >= 0;
        let function = point.function;
        let bound = local_size::constituent(self.view.index, bound);
        let ranges = self
            .functions
            .entry(function.number)
            .or_insert_with(|| FunctionRanges::new(function));
        let number = ranges.numbers.number(function, value, Path::new());
        if let Some(NumberedPart::Value(variable, path)) = ranges.numbers.get(number)
            && self.local_size.bounds(self.view.index, *variable, path, bound)
        {
            return true;
        }
        let other = ranges.numbers.number(function, bound, Path::new());
        let mut facts = ranges.facts_in(function, number, point.block, &point.facts);
        facts.any(|fact| fact.other == other && fact.is_below(is_positive))
    }

    /// Words that name a number, the same for all loads and copies of it in the function.
    pub fn name(&mut self, function: &'v FunctionView<'a, 'w>, value: Id) -> SmallVec<[u32; 8]> {
        let ranges = self
            .functions
            .entry(function.number)
            .or_insert_with(|| FunctionRanges::new(function));
        let number = ranges.numbers.number(function, value, Path::new());
        let (kind, of, path) = match ranges.numbers.get(number) {
            Some(NumberedPart::Value(id, path)) => (0, id.word(), path),
            Some(NumberedPart::Memory(definition, path)) => (1, definition.to_usize() as u32, path),
            None => return SmallVec::new(),
        };
        [path.len() as u32 * 2 + kind, of]
            .into_iter()
            .chain(path.iter().copied())
            .collect()
    }

    /// The value that another one is, whatever loads and copies are between. It is defined wherever the other one is.
    pub fn original(&mut self, function: &'v FunctionView<'a, 'w>, value: Id) -> Id {
        let ranges = self
            .functions
            .entry(function.number)
            .or_insert_with(|| FunctionRanges::new(function));
        let number = ranges.numbers.number(function, value, Path::new());
        match ranges.numbers.get(number) {
            Some(NumberedPart::Value(id, path)) if path.is_empty() => *id,
            _ => value,
        }
    }

    /// The range of a part of the contents of a definition.
    fn range_held(&mut self, point: &RangePoint<'v, 'a, 'w>, definition: DefIndex, path: Path) -> Range {
        self.answer(point, |numbers| {
            numbers.number_in_memory(point.function, definition, path)
        })
    }

    fn answer(&mut self, point: &RangePoint<'v, 'a, 'w>, name: impl FnOnce(&mut ValueNumbers) -> NumberIndex) -> Range {
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
        let number = name(&mut ranges.numbers);
        ranges.at(&solver, number, point.block, &point.facts)
    }

    /// Width of an integer type or of the components of a vector of integers.
    pub fn bits(&self, value: Id) -> Option<u32> {
        let index = self.view.index;
        integer_bits(index, index.type_of(value))
    }

    /// Finds the ranges of the parameters of a function, and of those that call it. O(calls of these functions) questions.
    fn find_parameters(&mut self, function: FunctionIndex) {
        let graph = &self.view.graph;
        if self.parameters.order.is_empty() {
            let (order, _) = graph.callees_first();
            self.parameters.order = order.into_iter().rev().zip(0..).collect();
        }
        let mut worklist = vec![function];
        let mut new = Vec::new();
        while let Some(number) = worklist.pop() {
            let is_ordered = self.parameters.order.contains_key(&number);
            if is_ordered && self.parameters.found.insert(number) {
                let parameters = integer_parameters(self.view.index, number);
                if !parameters.is_empty() {
                    worklist.extend(self.view.calls_of(number).map(|(caller, _)| caller));
                    new.push((number, parameters));
                }
            }
        }
        new.sort_by_key(|(number, _)| self.parameters.order.get(number).copied());
        for (number, parameters) in new {
            let calls: Vec<(FunctionIndex, usize)> = self.view.calls_of(number).collect();
            for parameter in &parameters {
                for part in &parameter.parts {
                    let arguments = calls.iter().filter_map(|call| self.argument(*call, parameter, part));
                    let joined = arguments.reduce(|one, other| Some(one?.join(other?)));
                    if let Some(range) = joined.flatten() {
                        self.parameters.ranges.insert((parameter.id, part.clone()), range);
                    }
                }
            }
        }
    }

    /// The range of an argument. `None`: the call is never made; nothing is known.
    fn argument(
        &mut self,
        (caller, offset): (FunctionIndex, usize),
        parameter: &Parameter,
        part: &Path,
    ) -> Option<Option<Range>> {
        let Some(function) = self.view.function(caller) else {
            return Some(None);
        };
        let block = function.block_at(offset)?;
        if !function.graph.is_reachable(block) {
            return None;
        }
        let Some(call) = function.index.insts(offset, function.function.end).next() else {
            return Some(None);
        };
        let point = RangePoint {
            function,
            block,
            facts: Facts::default(),
        };
        let argument = call.ids(4).nth(parameter.position)?;
        if !parameter.is_pointer {
            return Some(Some(self.range(&point, argument, part.first().copied())));
        }
        let passed = function
            .accesses
            .at(offset)
            .find(|access| access.kind == AccessKind::Argument(parameter.position) && access.place.is_exact);
        let Some(place) = passed.map(|access| &access.place) else {
            return Some(None);
        };
        let path: Path = place.path.iter().chain(part).copied().collect();
        let seen = function.memory.seen_by_event(offset);
        let mut held = seen.filter(|definition| function.cell_has(*definition, place.object, &path));
        let definition = held.next().filter(|_| held.next().is_none());
        Some(definition.map(|definition| self.range_held(&point, definition, path)))
    }
}
