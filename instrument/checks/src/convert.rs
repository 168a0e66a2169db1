//! Conversions of floats that the integer type cannot hold.
//!
//! `OpConvertFToU` and `OpConvertFToS`: "Behavior is undefined if Result Type is not wide enough to hold the converted value"
//! (SPIR-V specification, Conversion Instructions; Vulkan makes it an undefined value). The value is truncated first, so -0.5 converts
//! to an unsigned 0. NaN and infinities convert to nothing. Each component of a vector is one conversion.
//!
//! Only results that have an effect are checked, where they have it (`analysis::effects`). Not checked: constants;
//! `OpSpecConstantOp`; floats of other encodings, such as bfloat16, which have no comparisons.

use super::message::Message;
use super::operand_checks::{ValueCheck, ValueFacts, plant_value};
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::scalars::{Scalar, find, float_type};
use smallvec::{SmallVec, smallvec};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::float_bounds::ConvertibleRange;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op, op_sets};

struct Conversion<'w> {
    inst: Inst<'w>,
    is_signed: bool,
    /// Widths of the float and of the integer.
    from: u32,
    to: u32,
}

/// The check `convert`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let index = planter.index;
        let conversions = find(index, planter.function, |inst| {
            let is_conversion = matches!(inst.opcode(), op::ConvertFToU | op::ConvertFToS);
            let is_constant = op_sets::is_type_or_constant(index.opcode(inst.first_operand()));
            (is_conversion && !is_constant).then_some(*inst)
        });
        for (block, inst) in conversions {
            let to = facts.ranges().bits(inst.result());
            let (Some(from), Some(to)) = (float_type(index, index.type_of(inst.first_operand())), to) else {
                continue;
            };
            let conversion = Conversion {
                inst,
                is_signed: inst.opcode() == op::ConvertFToS,
                from: from.width(),
                to,
            };
            plant_value(planter, facts, block, conversion);
        }
    }

    fn properties(&self) -> Properties {
        Properties::OF_OPERANDS
    }
}

impl<'w> ValueCheck<'w> for Conversion<'w> {
    fn check(&self) -> Check {
        Check::Convert
    }

    fn inst(&self) -> Inst<'w> {
        self.inst
    }

    fn kind(&self) -> u32 {
        self.to << 1 | u32::from(self.is_signed)
    }

    fn operands(&self) -> SmallVec<[Id; 2]> {
        smallvec![self.inst.first_operand()]
    }

    fn can_fail<'v, 'a>(&self, _: &mut Ranges<'v, 'a, 'w>, _: &RangePoint<'v, 'a, 'w>, _: Option<u32>) -> bool {
        true
    }

    fn write_failed(&self, out: &mut Emitter, _: &Index<'_>, operands: &[Scalar]) -> Id {
        let &[value] = operands else { return Id::NONE };
        let bool = out.bool();
        let range = ConvertibleRange::new(self.from, self.to, self.is_signed);
        let [low, end] = [range.low, range.end].map(|bits| value.float_constant(out, self.from, bits));
        let is_above = out.emit(range.above, bool, (value.id, low));
        let is_below = out.emit(op::FOrdLessThan, bool, (value.id, end));
        let in_range = out.emit(op::LogicalAnd, bool, (is_above, is_below));
        out.emit(op::LogicalNot, bool, in_range)
    }

    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let mut message = Message::new("conversion of ");
        if let Some(value) = names.component(self.inst.first_operand(), component) {
            message.push_literal(&format!("`{value}`, "));
        }
        message.push_text("%f");
        let sign = if self.is_signed { "a signed" } else { "an unsigned" };
        message.push_literal(&format!(", to {sign} integer of {} bits", self.to));
        message
    }

    fn text_without_values(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let value = names.component(self.inst.first_operand(), component);
        let value = value.map_or_else(|| "a value".to_owned(), |value| format!("`{value}`"));
        let sign = if self.is_signed { "a signed" } else { "an unsigned" };
        let to = self.to;
        Message::literal(&format!(
            "conversion of {value} to {sign} integer of {to} bits, which cannot hold it"
        ))
    }
}
