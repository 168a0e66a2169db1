//! Integer division and remainder by zero, and of the least value by -1.
//!
//! `OpUDiv`, `OpSDiv`, `OpUMod`, `OpSRem` and `OpSMod`: "The resulting value is undefined if Operand 2 is 0", and for the signed
//! ones if Operand 2 is -1 and Operand 1 the minimum of the type (SPIR-V specification, Arithmetic Instructions). Each component of
//! a vector is one division.
//!
//! The value is undefined, not the program, so only results that have an effect are checked (`analysis::effects`), where they
//! have it. Not checked: divisors that cannot be 0, by constants, masks and the branches before the division
//! (`analysis::ranges`); `OpSpecConstantOp`, which is evaluated before any invocation; floating-point division, which is defined by
//! IEEE 754 on devices that preserve infinities and a common way to mean one.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Zero,
    Overflow,
}

struct Division<'w> {
    inst: Inst<'w>,
    fault: Fault,
    bits: u32,
}

/// The check `divide`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let divisions = find(planter.index, planter.function, |inst| match inst.opcode() {
            op::UDiv | op::UMod => Some((*inst, false)),
            op::SDiv | op::SRem | op::SMod => Some((*inst, true)),
            _ => None,
        });
        for (block, (inst, is_signed)) in divisions {
            let Some(bits) = facts.ranges().bits(inst.id(4)) else {
                continue;
            };
            for fault in [Fault::Zero, Fault::Overflow] {
                if fault == Fault::Zero || is_signed {
                    plant_value(planter, facts, block, Division { inst, fault, bits });
                }
            }
        }
    }

    fn properties(&self) -> Properties {
        Properties::OF_OPERANDS
    }
}

impl Fault {
    fn name(self) -> &'static str {
        match self {
            Self::Zero => "division by zero",
            Self::Overflow => "division overflows",
        }
    }
}

impl Division<'_> {
    fn expression(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Option<String> {
        let operand = |word| names.component(self.inst.id(word), component);
        Some(format!("`{}` {} `{}`", operand(3)?, self.symbol(), operand(4)?))
    }

    fn min(&self) -> u64 {
        1 << (self.bits - 1)
    }

    fn symbol(&self) -> &'static str {
        match self.inst.opcode() {
            op::UDiv | op::SDiv => "/",
            _ => "%",
        }
    }

    fn minus_one(&self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }
}

impl<'w> ValueCheck<'w> for Division<'w> {
    fn check(&self) -> Check {
        Check::Divide
    }

    fn inst(&self) -> Inst<'w> {
        self.inst
    }

    fn kind(&self) -> u32 {
        self.fault as u32
    }

    fn operands(&self) -> SmallVec<[Id; 2]> {
        smallvec![self.inst.id(3), self.inst.id(4)]
    }

    fn tested_operands(&self) -> SmallVec<[Id; 2]> {
        match self.fault {
            Fault::Zero => smallvec![self.inst.id(4)],
            Fault::Overflow => self.operands(),
        }
    }

    fn can_fail<'v, 'a>(
        &self,
        ranges: &mut Ranges<'v, 'a, 'w>,
        at: &RangePoint<'v, 'a, 'w>,
        component: Option<u32>,
    ) -> bool {
        let mut range = |word| ranges.range(at, self.inst.id(word), component);
        let divisor = range(4);
        match self.fault {
            Fault::Zero => divisor.contains(0),
            Fault::Overflow => divisor.contains(self.minus_one()) && range(3).contains(self.min()),
        }
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, operands: &[Scalar]) -> Id {
        let bool = out.bool();
        let &[value, divisor] = operands else {
            return Id::NONE;
        };
        let equals = |out: &mut Emitter, scalar: Scalar, constant: u64| {
            let constant = scalar.constant(out, index, constant);
            out.emit(op::IEqual, bool, (scalar.id, constant))
        };
        match self.fault {
            Fault::Zero => equals(out, divisor, 0),
            Fault::Overflow => {
                let is_minus_one = equals(out, divisor, self.minus_one());
                let is_min = equals(out, value, self.min());
                out.emit(op::LogicalAnd, bool, (is_minus_one, is_min))
            }
        }
    }

    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let mut message = Message::literal(self.fault.name()).with_expression(self.expression(names, component));
        let (value, divisor) = (self.inst.id(3), self.inst.id(4));
        message.push_literal(match self.expression(names, component) {
            Some(_) => " is ",
            None => ": ",
        });
        message.push_text(conversion(names.index, value));
        message.push_literal(&format!(" {} ", self.symbol()));
        message.push_text(conversion(names.index, divisor));
        message
    }

    fn text_without_values(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        Message::literal(self.fault.name()).with_expression(self.expression(names, component))
    }
}
