//! Built-in functions of arguments for which their result is undefined.
//!
//! "Result is undefined if x < 0" (SPIR-V Extended Instructions for GLSL, Sqrt): drivers compute what is fast, and differ. So a shader that
//! works on one GPU has black pixels on another. Only results that have an effect are checked, where they have it. On request, since many
//! programs rely on what all drivers do: the logarithm of 0 is an infinity.
//!
//! The rows of `undefined::domain` are the functions for which the specification has such a sentence. `OpFMod` and `OpFRem` have one, too: "The
//! resulting value is undefined if Operand 2 is 0". `Normalize` has none, but a vector of length 0 has no direction; nor has `PackHalf2x16`, which
//! makes an infinity or the largest float of a number that is too large.
//!
//! Not checked: arguments that are NaN, which began elsewhere (`invalid`); constants alone; minima and maxima of NaN, which are one of two
//! values; `InterpolateAtSample` and `InterpolateAtOffset`; `Refract` and `Reflect`, which only miss "the desired result" without normalised
//! arguments.

mod function;
mod tests_of_arguments;
mod undefined;

use super::message::Message;
use super::operand_checks::{ValueCheck, ValueFacts, plant_value};
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::scalars::{Scalar, conversion, find, write_not_finite};
use function::{Function, function, number_type};
use smallvec::SmallVec;
use tests_of_arguments::write_is_too_large;
use undefined::Undefined;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::float_bounds::FloatBounds;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op};

/// The check `domain`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let index = planter.index;
        let sets = index.sets("GLSL.std.450");
        let found = find(index, planter.function, |inst| function(index, &sets, inst));
        if found.is_empty() {
            return;
        }
        let bounds = FloatBounds::new(index, planter.function, |id| facts.original(id));
        for (block, mut function) in found {
            function.bounds = function.operands.iter().map(|id| bounds.of(index, *id)).collect();
            plant_value(planter, facts, block, function);
        }
    }

    fn properties(&self) -> Properties {
        Properties::OF_OPERANDS
    }
}

impl<'w> ValueCheck<'w> for Function<'w> {
    fn check(&self) -> Check {
        Check::Domain
    }

    fn inst(&self) -> Inst<'w> {
        self.inst
    }

    fn kind(&self) -> u32 {
        self.undefined as u32
    }

    fn operands(&self) -> SmallVec<[Id; 2]> {
        let shown = self.operands.iter().filter(|_| !self.undefined.is_of_all());
        shown.copied().collect()
    }

    fn tested_operands(&self) -> SmallVec<[Id; 2]> {
        self.operands.iter().copied().collect()
    }

    fn can_fail<'v, 'a>(
        &self,
        ranges: &mut Ranges<'v, 'a, 'w>,
        at: &RangePoint<'v, 'a, 'w>,
        component: Option<u32>,
    ) -> bool {
        let mut bounds = |word: usize| {
            let id = self.operands.get(word).copied().unwrap_or_default();
            ranges.range(at, id, component)
        };
        match self.undefined {
            Undefined::SwappedUnsigned => bounds(1).max() > bounds(2).min(),
            Undefined::SwappedSigned => bounds(1).smax() > bounds(2).smin(),
            undefined => undefined.can_fail(&self.bounds),
        }
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, operands: &[Scalar]) -> Id {
        match (self.undefined, operands) {
            (Undefined::ZeroVector, _) => self.write_is_zero(out, index),
            (Undefined::BeyondHalf, _) => self.write_is_beyond_half(out, index),
            (Undefined::Singular, _) => self.write_is_singular(out, index),
            (Undefined::TooLarge, [value, exponent]) => write_is_too_large(out, *value, *exponent),
            (Undefined::NotFinite, [value]) => write_not_finite(out, *value, self.width),
            (undefined, operands) => self.write_comparisons(out, undefined, operands),
        }
    }

    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let index = names.index;
        let conversion = |id: &Id| match number_type(index, index.type_of(*id)) {
            Some(ty) if ty.opcode() == op::TypeInt => conversion(index, *id),
            _ => "%f",
        };
        let shown: Vec<&str> = match self.undefined.is_of_all() {
            true => vec![".."],
            false => self.operands.iter().map(conversion).collect(),
        };
        let mut message = Message::new(&format!("{}({}) is undefined ", self.name, shown.join(", ")));
        message.push_literal(self.undefined.text());
        message.with_expression(self.expression(names, component))
    }

    fn text_without_values(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let text = format!("{} is undefined {}", self.name, self.undefined.text());
        Message::literal(&text).with_expression(self.expression(names, component))
    }
}

impl Function<'_> {
    fn expression(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Option<String> {
        let expression = names.component(self.inst.result(), component)?;
        Some(format!("`{expression}`"))
    }
}
