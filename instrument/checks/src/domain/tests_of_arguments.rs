//! Tests whether the arguments of a function make its result undefined.

use super::function::{Function, number_type};
use super::undefined::{BEYOND_HALF, Undefined};
use crate::scalars::{Scalar, components};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::glsl;
use vkabort_spirv::{Id, Literal, op};

/// Bits of an infinity.
const INFINITY: u32 = f32::INFINITY.to_bits();

impl Function<'_> {
    /// Tests by comparisons of operands, which are false for NaN.
    pub(super) fn write_comparisons(&self, out: &mut Emitter, undefined: Undefined, operands: &[Scalar]) -> Id {
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
    pub(super) fn write_is_zero(&self, out: &mut Emitter, index: &Index<'_>) -> Id {
        let bool = out.bool();
        let vector = self.operands.first().copied().unwrap_or_default();
        let zeros = components(out, index, vector).into_iter().map(|scalar| {
            let zero = scalar.float_constant(out, self.width, 0);
            out.emit(op::FOrdEqual, bool, (scalar.id, zero))
        });
        let zeros: Vec<Id> = zeros.collect();
        zeros
            .into_iter()
            .reduce(|all, one| out.emit(op::LogicalAnd, bool, (all, one)))
            .unwrap_or_default()
    }

    /// Whether a component is finite, and too large for a float of 16 bits.
    pub(super) fn write_is_beyond_half(&self, out: &mut Emitter, index: &Index<'_>) -> Id {
        let (bool, uint) = (out.bool(), out.uint());
        let vector = self.operands.first().copied().unwrap_or_default();
        let parts: Vec<Id> = components(out, index, vector)
            .into_iter()
            .map(|scalar| {
                let least = (BEYOND_HALF as f32).to_bits();
                let [sign, least, count] = [0x7FFF_FFFF, least, INFINITY - least].map(|word| out.constant(word));
                let bits = out.emit(op::Bitcast, uint, scalar.id);
                let magnitude = out.calculate(op::BitwiseAnd, (bits, sign));
                let above = out.calculate(op::ISub, (magnitude, least));
                out.emit(op::ULessThan, bool, (above, count))
            })
            .collect();
        parts
            .into_iter()
            .reduce(|any, one| out.emit(op::LogicalOr, bool, (any, one)))
            .unwrap_or_default()
    }

    pub(super) fn write_is_singular(&self, out: &mut Emitter, index: &Index<'_>) -> Id {
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
pub(super) fn write_is_too_large(out: &mut Emitter, value: Scalar, exponent: Scalar) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let bits = out.emit(op::Bitcast, uint, value.id);
    let [all, shift, zero, mask] = [INFINITY, 23, 0, 0x7FFF_FFFF].map(|word| out.constant(word));
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
