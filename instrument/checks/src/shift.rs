//! Shifts by the width of the value or more, and bit fields that reach beyond it ([`bit_field`](super::bit_field)).
//!
//! `OpShiftLeftLogical`, `OpShiftRightLogical` and `OpShiftRightArithmetic`: "The result is undefined if Shift is greater than or
//! equal to the bit width of the components of Base" (SPIR-V specification, Bit Instructions). Shift is unsigned, whatever its type
//! says, so a negative amount is one of these. Each component of a vector is one shift.
//!
//! The value is undefined, not the program, so only results that have an effect are checked (`analysis::effects`), where they
//! have it: the other part of a rotation by 0, `x >> (32 - n)`, which a selection drops, is not. Not checked: amounts that are
//! below the width by constants, masks and branches (`analysis::ranges`); `OpSpecConstantOp`.

use super::bit_field;
use super::message::Message;
use super::operand_checks::{ValueCheck, ValueFacts, plant_value};
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::scalars::{Scalar, conversion, find};
use smallvec::{SmallVec, smallvec};
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op};

struct Shift<'w> {
    inst: Inst<'w>,
    /// Width of the shifted value.
    bits: u32,
}

/// The check `shift`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let shifts = find(planter.index, planter.function, |inst| {
            let is_shift = matches!(inst.opcode(), op::ShiftRightLogical..=op::ShiftLeftLogical);
            is_shift.then_some(*inst)
        });
        for (block, inst) in shifts {
            let ranges = facts.ranges();
            if let (Some(bits), Some(_)) = (ranges.bits(inst.id(3)), ranges.bits(inst.id(4))) {
                plant_value(planter, facts, block, Shift { inst, bits });
            }
        }
        bit_field::plant(planter, facts);
    }

    fn properties(&self) -> Properties {
        Properties::OF_OPERANDS
    }
}

impl<'w> ValueCheck<'w> for Shift<'w> {
    fn check(&self) -> Check {
        Check::Shift
    }

    fn inst(&self) -> Inst<'w> {
        self.inst
    }

    fn kind(&self) -> u32 {
        self.bits
    }

    fn operands(&self) -> SmallVec<[Id; 2]> {
        smallvec![self.inst.id(4)]
    }

    fn can_fail<'v, 'a>(
        &self,
        ranges: &mut Ranges<'v, 'a, 'w>,
        at: &RangePoint<'v, 'a, 'w>,
        component: Option<u32>,
    ) -> bool {
        ranges.range(at, self.inst.id(4), component).max() >= u64::from(self.bits)
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, operands: &[Scalar]) -> Id {
        let &[amount] = operands else { return Id::NONE };
        let bool = out.bool();
        let width = amount.constant(out, index, self.bits.into());
        out.emit(op::UGreaterThanEqual, bool, (amount.id, width))
    }

    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let mut message = Message::new("shift by ");
        message.push_text(conversion(names.index, self.inst.id(4)));
        message.push_literal(&format!(" of a {}-bit value", self.bits));
        message.with_expression(self.expression(names, component))
    }

    fn text_without_values(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let text = format!("shift of a {0}-bit value by {0} or more", self.bits);
        Message::literal(&text).with_expression(self.expression(names, component))
    }
}

impl Shift<'_> {
    fn expression(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Option<String> {
        let symbol = match self.inst.opcode() {
            op::ShiftLeftLogical => "<<",
            _ => ">>",
        };
        let operand = |word| names.component(self.inst.id(word), component);
        Some(format!("`{}` {symbol} `{}`", operand(3)?, operand(4)?))
    }
}
