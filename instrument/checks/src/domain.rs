//! Built-in functions of arguments for which their result is undefined.
//!
//! "Result is undefined if x < 0" (SPIR-V Extended Instructions for GLSL, Sqrt): drivers compute what is fast, and differ. So a shader that
//! works on one GPU has black pixels on another. Only results that have an effect are checked, where they have it. On request, since many
//! programs rely on what all drivers do: the logarithm of 0 is an infinity.
//!
//! The rows of [`domain`] are the functions for which the specification has such a sentence, and `OpFMod` and `OpFRem`: "The resulting value is
//! undefined if Operand 2 is 0". `Normalize` is computed as `x * inversesqrt(dot(x, x))` (Vulkan specification, Precision and Operation of SPIR-V
//! Instructions).
//!
//! Not checked: arguments that are NaN, which began elsewhere (`invalid`); constants alone; minima and maxima of NaN, which are one of two
//! values; `InterpolateAtSample` and `InterpolateAtOffset`; `Refract` and `Reflect`, which only miss "the desired result" without normalised
//! arguments.

use super::message::Message;
use super::operand_checks::{ValueCheck, ValueFacts, plant_value};
use super::planter::Planter;
use super::properties::Properties;
use super::rule::CheckRule;
use super::scalars::{Scalar, conversion, find, float_type, write_not_finite};
use smallvec::SmallVec;
use vkabort_analysis::effects::component_count;
use vkabort_analysis::expressions::Expressions;
use vkabort_analysis::float_bounds::{Bounds, FloatBounds};
use vkabort_analysis::ranges::{RangePoint, Ranges};
use vkabort_options::Check;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::glsl;
use vkabort_spirv::{Id, Inst, Literal, op, op_sets};

/// Arguments for which a result is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undefined {
    Negative,
    NotPositive,
    BelowOne,
    /// Beyond -1 and 1.
    Beyond,
    /// Beyond -1 and 1, and these.
    NotBetween,
    /// Both are 0.
    Zeros,
    /// The second one is 0.
    ByZero,
    /// A negative base, or 0 with an exponent that is not positive.
    Power,
    /// The second one is greater than the third: floats, and signed and unsigned integers.
    Swapped,
    SwappedSigned,
    SwappedUnsigned,
    /// The first one is not less than the second.
    Edges,
    /// The product is too large.
    TooLarge,
    NotFinite,
    ZeroVector,
    Singular,
}

struct Function<'w> {
    inst: Inst<'w>,
    name: &'static str,
    undefined: Undefined,
    operands: SmallVec<[Id; 3]>,
    /// Width of the numbers of the first operand.
    width: u32,
    /// Bounds of the operands, if they are floats.
    bounds: SmallVec<[Bounds; 3]>,
}

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

    fn travels(&self) -> bool {
        true
    }

    fn properties(&self) -> Properties {
        Properties {
            is_hoisted: true,
            ..Properties::default()
        }
    }
}

/// The function that an instruction computes, if its result may be undefined.
fn function<'w>(index: &Index<'w>, sets: &[Id], inst: &Inst<'w>) -> Option<Function<'w>> {
    let ((name, undefined), first) = match inst.opcode() {
        op::ExtInst if sets.contains(&inst.ext_inst_set()) => (domain(inst.ext_inst())?, 5),
        op::FMod => (("mod", Undefined::ByZero), 3),
        op::FRem => (("fmod", Undefined::ByZero), 3),
        _ => return None,
    };
    let operands: SmallVec<[Id; 3]> = inst.ids(first).collect();
    let number = number_type(index, index.type_of(*operands.first()?))?;
    let are_constant = operands
        .iter()
        .all(|id| op_sets::is_type_or_constant(index.opcode(*id)));
    let is_known = match undefined {
        Undefined::TooLarge => {
            number.width() == 32 && number_type(index, index.type_of(*operands.get(1)?))?.width() == 32
        }
        Undefined::SwappedSigned | Undefined::SwappedUnsigned => true,
        _ => number.opcode() == op::TypeFloat && matches!(number.width(), 16 | 32 | 64),
    };
    (is_known && !are_constant && !index.lacks_arithmetic(&number)).then_some(Function {
        inst: *inst,
        name,
        undefined,
        operands,
        width: number.width(),
        bounds: SmallVec::new(),
    })
}

/// The type of the numbers of a scalar, vector or matrix type.
fn number_type<'w>(index: &Index<'w>, ty: Id) -> Option<Inst<'w>> {
    let mut inst = index.def(ty)?;
    while let op::TypeMatrix | op::TypeVector = inst.opcode() {
        inst = index.def(inst.element_type())?;
    }
    match inst.opcode() {
        op::TypeFloat => float_type(index, inst.result()),
        op::TypeInt => Some(inst),
        _ => None,
    }
}

/// Name and domain of a function of `GLSL.std.450`.
fn domain(number: u32) -> Option<(&'static str, Undefined)> {
    Some(match number {
        glsl::Sqrt => ("sqrt", Undefined::Negative),
        glsl::InverseSqrt => ("inversesqrt", Undefined::NotPositive),
        glsl::Log => ("log", Undefined::NotPositive),
        glsl::Log2 => ("log2", Undefined::NotPositive),
        glsl::Asin => ("asin", Undefined::Beyond),
        glsl::Acos => ("acos", Undefined::Beyond),
        glsl::Acosh => ("acosh", Undefined::BelowOne),
        glsl::Atanh => ("atanh", Undefined::NotBetween),
        glsl::Atan2 => ("atan", Undefined::Zeros),
        glsl::Pow => ("pow", Undefined::Power),
        glsl::FClamp | glsl::NClamp => ("clamp", Undefined::Swapped),
        glsl::SClamp => ("clamp", Undefined::SwappedSigned),
        glsl::UClamp => ("clamp", Undefined::SwappedUnsigned),
        glsl::SmoothStep => ("smoothstep", Undefined::Edges),
        glsl::Ldexp => ("ldexp", Undefined::TooLarge),
        glsl::FrexpStruct => ("frexp", Undefined::NotFinite),
        glsl::Normalize => ("normalize", Undefined::ZeroVector),
        glsl::MatrixInverse => ("inverse", Undefined::Singular),
        _ => return None,
    })
}

impl Undefined {
    /// The arguments, in words.
    fn text(self) -> &'static str {
        match self {
            Self::Negative => "of negative numbers",
            Self::NotPositive => "of 0 and negative numbers",
            Self::BelowOne => "of numbers below 1",
            Self::Beyond => "beyond -1 to 1",
            Self::NotBetween => "of numbers that are not between -1 and 1",
            Self::Zeros => "of two zeros",
            Self::ByZero => "for a divisor of 0",
            Self::Power => "of negative numbers, and of 0 with an exponent that is not positive",
            Self::Swapped | Self::SwappedSigned | Self::SwappedUnsigned => {
                "where the minimum is greater than the maximum"
            }
            Self::Edges => "unless the first edge is less than the second",
            Self::TooLarge => "where the product is too large for a float",
            Self::NotFinite => "of NaN and infinities",
            Self::ZeroVector => "of a vector of length 0",
            Self::Singular => "of a matrix whose determinant is 0",
        }
    }

    /// Whether an argument is shown as a whole, not by components.
    fn is_of_all(self) -> bool {
        matches!(self, Self::ZeroVector | Self::Singular)
    }

    /// Whether the result may be undefined for some arguments within these bounds.
    fn can_fail(self, bounds: &[Bounds]) -> bool {
        let [first, rest @ ..] = bounds else { return true };
        match (self, rest) {
            (Self::Negative, _) => first.low < 0.0,
            (Self::NotPositive, _) => first.low <= 0.0,
            (Self::BelowOne, _) => first.low < 1.0,
            (Self::Beyond, _) => first.low < -1.0 || first.high > 1.0,
            (Self::NotBetween, _) => first.low <= -1.0 || first.high >= 1.0,
            (Self::Power, [exponent]) => first.low < 0.0 || first.low <= 0.0 && exponent.low <= 0.0,
            (Self::ByZero, [divisor]) => divisor.low <= 0.0 && divisor.high >= 0.0,
            (Self::Zeros, [x]) => [first, x].iter().all(|bounds| bounds.low <= 0.0 && bounds.high >= 0.0),
            (Self::Swapped, [low, high]) => low.high > high.low,
            (Self::Edges, [second, _]) => first.high >= second.low,
            _ => true,
        }
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

    /// Tests by comparisons of operands, which are false for NaN.
    fn write_comparisons(&self, out: &mut Emitter, undefined: Undefined, operands: &[Scalar]) -> Id {
        let bool = out.bool();
        let constant =
            |out: &mut Emitter, of: Scalar, value: f64| of.float_constant(out, self.width, bits(value, self.width));
        let compare = |out: &mut Emitter, opcode: u16, left: Scalar, right: f64| {
            let right = constant(out, left, right);
            out.emit(opcode, bool, (left.id, right))
        };
        match (undefined, operands) {
            (Undefined::Negative, [x]) => compare(out, op::FOrdLessThan, *x, 0.0),
            (Undefined::NotPositive, [x]) => compare(out, op::FOrdLessThanEqual, *x, 0.0),
            (Undefined::BelowOne, [x]) => compare(out, op::FOrdLessThan, *x, 1.0),
            (Undefined::Beyond | Undefined::NotBetween, [x]) => {
                let (above, below) = match undefined {
                    Undefined::Beyond => (op::FOrdGreaterThan, op::FOrdLessThan),
                    _ => (op::FOrdGreaterThanEqual, op::FOrdLessThanEqual),
                };
                let is_above = compare(out, above, *x, 1.0);
                let is_below = compare(out, below, *x, -1.0);
                out.emit(op::LogicalOr, bool, (is_above, is_below))
            }
            (Undefined::Zeros, [y, x]) => {
                let [y, x] = [y, x].map(|scalar| compare(out, op::FOrdEqual, *scalar, 0.0));
                out.emit(op::LogicalAnd, bool, (y, x))
            }
            (Undefined::ByZero, [_, divisor]) => compare(out, op::FOrdEqual, *divisor, 0.0),
            (Undefined::Power, [base, exponent]) => {
                let is_negative = compare(out, op::FOrdLessThan, *base, 0.0);
                let is_zero = compare(out, op::FOrdEqual, *base, 0.0);
                let is_root = compare(out, op::FOrdLessThanEqual, *exponent, 0.0);
                let is_infinite = out.emit(op::LogicalAnd, bool, (is_zero, is_root));
                out.emit(op::LogicalOr, bool, (is_negative, is_infinite))
            }
            (Undefined::Swapped, [_, low, high]) => out.emit(op::FOrdGreaterThan, bool, (low.id, high.id)),
            (Undefined::SwappedSigned, [_, low, high]) => out.emit(op::SGreaterThan, bool, (low.id, high.id)),
            (Undefined::SwappedUnsigned, [_, low, high]) => out.emit(op::UGreaterThan, bool, (low.id, high.id)),
            (Undefined::Edges, [first, second, _]) => out.emit(op::FOrdGreaterThanEqual, bool, (first.id, second.id)),
            _ => out.value(op::ConstantFalse, bool, ()),
        }
    }

    /// Whether all components of the operand are 0.
    fn write_is_zero(&self, out: &mut Emitter, index: &Index<'_>) -> Id {
        let bool = out.bool();
        let vector = self.operands.first().copied().unwrap_or_default();
        let ty = index.type_of(vector);
        let count = component_count(index, ty);
        let zeros = (0..count).map(|component| {
            let scalar = match count {
                1 => Scalar { ty, id: vector },
                _ => {
                    let ty = index.part_type(ty, 0);
                    let id = out.emit(op::CompositeExtract, ty, (vector, Literal(component)));
                    Scalar { ty, id }
                }
            };
            let zero = scalar.float_constant(out, self.width, 0);
            out.emit(op::FOrdEqual, bool, (scalar.id, zero))
        });
        let zeros: Vec<Id> = zeros.collect();
        zeros
            .into_iter()
            .reduce(|all, one| out.emit(op::LogicalAnd, bool, (all, one)))
            .unwrap_or_default()
    }

    fn write_is_singular(&self, out: &mut Emitter, index: &Index<'_>) -> Id {
        let bool = out.bool();
        let matrix = self.operands.first().copied().unwrap_or_default();
        let ty = number_type(index, index.type_of(matrix)).map_or(Id::NONE, |ty| ty.result());
        let id = out.emit(
            op::ExtInst,
            ty,
            (self.inst.ext_inst_set(), Literal(glsl::Determinant), matrix),
        );
        let zero = Scalar { ty, id }.float_constant(out, self.width, 0);
        out.emit(op::FOrdEqual, bool, (id, zero))
    }
}

/// Whether a float of 32 bits times a power of 2 is too large, or its exponent greater than 128: a number of exponent 0 is less than 2 to the
/// power of -126.
fn write_is_too_large(out: &mut Emitter, value: Scalar, exponent: Scalar) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let bits = out.emit(op::Bitcast, uint, value.id);
    let [all, shift, zero, mask] = [0x7F80_0000, 23, 0, 0x7FFF_FFFF].map(|word| out.constant(word));
    let masked = out.calculate(op::BitwiseAnd, (bits, all));
    let is_finite = out.emit(op::INotEqual, bool, (masked, all));
    let own = out.calculate(op::ShiftRightLogical, (masked, shift));
    let magnitude = out.calculate(op::BitwiseAnd, (bits, mask));
    let is_number = out.emit(op::INotEqual, bool, (magnitude, zero));
    let [most, largest] = [128, 254].map(|word| out.constant(word));
    let is_beyond = out.emit(op::SGreaterThan, bool, (exponent.id, most));
    let sum = out.calculate(op::IAdd, (own, exponent.id));
    let is_large = out.emit(op::SGreaterThan, bool, (sum, largest));
    let is_undefined = out.emit(op::LogicalOr, bool, (is_beyond, is_large));
    let is_checked = out.emit(op::LogicalAnd, bool, (is_finite, is_number));
    out.emit(op::LogicalAnd, bool, (is_checked, is_undefined))
}

/// The bits of 0, 1 or -1.
fn bits(value: f64, width: u32) -> u64 {
    match width {
        64 => value.to_bits(),
        32 => u64::from((value as f32).to_bits()),
        _ if value == 0.0 => 0,
        _ if value > 0.0 => 0x3C00,
        _ => 0xBC00,
    }
}
