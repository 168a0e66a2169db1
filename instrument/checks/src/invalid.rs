//! Checks operations on finite numbers whose result is a NaN or an infinity and is stored.
//!
//! IEEE 754 calls these operations invalid, divisions by zero and overflows: 0/0, the square root of a negative number, the logarithm of 0,
//! the normalised vector of length 0, a product beyond the largest float. They are defined, and a common way to mean an infinity, so this
//! check is on request. `nan` names the store at which such a value lands, this check the operation.
//!
//! ```text
//! %y = FDiv %a %b       becomes   %y = FDiv %a %b
//!                                 %failed = the exponent of %y is full, those of %a and %b are not
//!                                 the abort: "1.0 / 0.0 is inf: `a / b`"
//! ```
//!
//! Checked where the result is stored as NaN or an infinity (`analysis::effects::not_finite`): a value that a minimum, a
//! comparison, a selection or a division by it consumes is not. Not checked: operations on constants alone; those that cannot overflow,
//! by a constant operand; operands that are not finite, which began elsewhere; products of matrices; types of which the module says that
//! it means NaN (`nan::means_nan`), and floats that the module only stores.

use super::faults::FaultClass;
use super::message::Message;
use super::nan::means_nan;
use super::operand_checks::{ValueCheck, ValueFacts, plant_value};
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::scalars::{Scalar, components, find, float_type, write_not_finite};
use smallvec::SmallVec;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::float_bounds::FloatBounds;
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{decoration, glsl};
use vkabort_spirv::{Id, Inst, op, op_sets};

/// Notation of an operation, and the operands of a component of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The same component of two operands, around this symbol.
    Operator(&'static str),
    /// The same component of all operands.
    Function(&'static str),
    /// All components of all operands.
    OfVectors(&'static str),
    Conversion,
}

struct Operation<'w> {
    inst: Inst<'w>,
    form: Form,
    operands: SmallVec<[Id; 3]>,
    /// Widths of the floats of operands and result.
    from: u32,
    to: u32,
    /// Divides by a number that is always 0. Then the result is no number, whatever a driver computes: Mesa's is a poison value.
    divides_by_zero: bool,
}

/// The check `invalid`.
pub(super) struct Rule;

impl CheckRule for Rule {
    fn plant_values<'w>(&self, planter: &mut Planter<'_, '_, 'w>, facts: &mut ValueFacts<'_, '_, '_, 'w>) {
        let index = planter.index;
        let glsl = index.sets("GLSL.std.450");
        let operations = find(index, planter.function, |inst| operation(index, &glsl, inst));
        let divides = operations
            .iter()
            .any(|(_, operation)| operation.inst.opcode() == op::FDiv);
        let bounds = divides.then(|| FloatBounds::new(index, planter.function, |id| facts.original(id)));
        for (block, mut operation) in operations {
            let divisor = bounds.as_ref().filter(|_| operation.inst.opcode() == op::FDiv);
            let divisor = divisor.map(|bounds| bounds.of(index, operation.inst.id(4)));
            operation.divides_by_zero = divisor.is_some_and(|divisor| divisor.low == 0.0 && divisor.high == 0.0);
            plant_value(planter, facts, block, operation);
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            travels: true,
            ..Properties::PLAIN
        }
    }
}

fn operation<'w>(index: &Index<'w>, glsl: &[Id], inst: &Inst<'w>) -> Option<Operation<'w>> {
    let (form, first) = match inst.opcode() {
        op::ExtInst if glsl.contains(&inst.ext_inst_set()) => (function(inst.ext_inst())?, 5),
        op::FConvert => (Form::Conversion, 3),
        op::Dot => (Form::OfVectors("dot"), 3),
        opcode => (Form::Operator(symbol(opcode)?), 3),
    };
    let operands: SmallVec<[Id; 3]> = inst.ids(first).collect();
    let float = float_type(index, inst.result_type())?;
    let operand = float_type(index, index.type_of(*operands.first()?))?;
    let is_constant = |id: &Id| op_sets::is_type_or_constant(index.opcode(*id));
    let is_meant = operands.iter().all(is_constant) || means_nan(index, float);
    let narrows = form != Form::Conversion || float.width() < operand.width();
    // Only a store may use a value with an `FPRoundingMode`.
    let is_storage_only = index.lacks_arithmetic(&float)
        || index.lacks_arithmetic(&operand)
        || index.decoration(inst.result(), decoration::FPRoundingMode).is_some();
    let is_checked = !is_meant && narrows && !is_storage_only && !cannot_overflow(index, inst, &float);
    is_checked.then_some(Operation {
        inst: *inst,
        form,
        operands,
        from: operand.width(),
        to: float.width(),
        divides_by_zero: false,
    })
}

fn symbol(opcode: u16) -> Option<&'static str> {
    Some(match opcode {
        op::FAdd => "+",
        op::FSub => "-",
        op::FMul | op::VectorTimesScalar => "*",
        op::FDiv => "/",
        op::FRem | op::FMod => "%",
        _ => return None,
    })
}

fn function(number: u32) -> Option<Form> {
    Some(Form::Function(match number {
        glsl::Sqrt => "sqrt",
        glsl::InverseSqrt => "inversesqrt",
        glsl::Log => "log",
        glsl::Log2 => "log2",
        glsl::Exp => "exp",
        glsl::Exp2 => "exp2",
        glsl::Pow => "pow",
        glsl::Asin => "asin",
        glsl::Acos => "acos",
        glsl::Sinh => "sinh",
        glsl::Cosh => "cosh",
        glsl::Acosh => "acosh",
        glsl::Atanh => "atanh",
        glsl::Fma => "fma",
        glsl::Length => return Some(Form::OfVectors("length")),
        glsl::Distance => return Some(Form::OfVectors("distance")),
        glsl::Normalize => return Some(Form::OfVectors("normalize")),
        _ => return None,
    }))
}

/// Whether an operation on finite numbers has a finite result, by a constant operand: a factor of at most 1, a divisor of at least 1, or a
/// summand that is less than half of the last place of the largest float.
fn cannot_overflow(index: &Index<'_>, inst: &Inst<'_>, float: &Inst<'_>) -> bool {
    let width = float.width();
    let smallest = match width {
        16 => 16.0,
        32 => 2_f64.powi(103),
        _ => 2_f64.powi(969),
    };
    let all = |id: Id, holds: &dyn Fn(f64) -> bool| {
        let values = constants(index, id, width);
        values.is_some_and(|values| values.into_iter().all(|value| holds(value.abs())))
    };
    let (left, right) = (inst.id(3), inst.id(4));
    match inst.opcode() {
        op::FMul | op::VectorTimesScalar => [left, right].iter().any(|id| all(*id, &|value| value <= 1.0)),
        op::FAdd | op::FSub => [left, right].iter().any(|id| all(*id, &|value| value < smallest)),
        op::FDiv => all(right, &|value| value >= 1.0),
        op::FRem | op::FMod => all(right, &|value| value > 0.0),
        _ => false,
    }
}

/// The finite values of a constant.
fn constants(index: &Index<'_>, id: Id, width: u32) -> Option<Vec<f64>> {
    let inst = index.def(id)?;
    let parts: Vec<Id> = match inst.opcode() {
        op::ConstantComposite => inst.ids(3).collect(),
        _ => vec![id],
    };
    let value = |part: Id| {
        let constant = index.def(part).filter(|inst| inst.opcode() == op::Constant)?;
        let bits = constant.constant_bits();
        let value = match width {
            16 => half(bits as u16),
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        };
        value.is_finite().then_some(value)
    };
    parts.into_iter().map(value).collect()
}

/// The value of a half; NaN for those that are not finite.
fn half(bits: u16) -> f64 {
    let exponent = i32::from(bits >> 10 & 0x1F);
    let fraction = f64::from(bits & 0x3FF) / 1024.0;
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

impl<'w> ValueCheck<'w> for Operation<'w> {
    fn check(&self) -> Check {
        Check::Invalid
    }

    fn inst(&self) -> Inst<'w> {
        self.inst
    }

    fn is_behind(&self) -> bool {
        true
    }

    fn class(&self) -> FaultClass {
        FaultClass::NotFinite
    }

    /// The operands of a component, then the result, unless that is not read.
    fn operands(&self) -> SmallVec<[Id; 2]> {
        let operands = match self.form {
            Form::OfVectors(_) => [].iter(),
            _ => self.operands.iter(),
        };
        let result = (!self.divides_by_zero).then(|| self.inst.result());
        operands.copied().chain(result).collect()
    }

    fn can_fail<'v, 'a>(&self, _: &mut Ranges<'v, 'a, 'w>, _: &RangePoint<'v, 'a, 'w>, _: Option<u32>) -> bool {
        true
    }

    fn write_failed(&self, out: &mut Emitter, index: &Index<'_>, operands: &[Scalar]) -> Id {
        let bool = out.bool();
        let mut operands: Vec<Scalar> = operands.to_vec();
        let result = if self.divides_by_zero { None } else { operands.pop() };
        if let Form::OfVectors(_) = self.form {
            for id in &self.operands {
                operands.extend(components(out, index, *id));
            }
        }
        let mut failed = result.map(|result| write_not_finite(out, result, self.to));
        for operand in operands {
            if constants(index, operand.id, self.from).is_some() {
                continue;
            }
            let began_before = write_not_finite(out, operand, self.from);
            let is_finite = out.emit(op::LogicalNot, bool, began_before);
            failed = Some(match failed {
                Some(failed) => out.emit(op::LogicalAnd, bool, (failed, is_finite)),
                None => is_finite,
            });
        }
        failed.unwrap_or_else(|| out.value(op::ConstantTrue, bool, ()))
    }

    fn text(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let mut message = Message::default();
        if self.divides_by_zero {
            message.push_text("%f / %f divides by 0");
            return message.with_expression(self.expression(names, component));
        }
        match self.form {
            Form::Operator(symbol) => {
                message.push_text("%f");
                message.push_literal(&format!(" {symbol} "));
                message.push_text("%f");
            }
            Form::Function(name) => {
                let values = vec!["%f"; self.operands.len()].join(", ");
                message.push_text(&format!("{name}({values})"));
            }
            Form::OfVectors(name) => message.push_literal(&format!("{name}(..)")),
            Form::Conversion => message.push_text(&format!("conversion of %f to a float of {} bits", self.to)),
        }
        message.push_text(" is %f");
        message.with_expression(self.expression(names, component))
    }

    fn text_without_values(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Message {
        let mut message = Message::default();
        match self.form {
            Form::Operator(symbol) => message.push_literal(&format!("the result of {symbol}")),
            Form::Function(name) | Form::OfVectors(name) => message.push_literal(&format!("the result of {name}")),
            Form::Conversion => message.push_literal(&format!("a conversion to a float of {} bits", self.to)),
        }
        message.push_literal(" is not finite");
        message.with_expression(self.expression(names, component))
    }
}

impl Operation<'_> {
    fn expression(&self, names: &Expressions<'_, '_>, component: Option<u32>) -> Option<String> {
        let expression = names.component(self.inst.result(), component)?;
        Some(format!("`{expression}`"))
    }
}
