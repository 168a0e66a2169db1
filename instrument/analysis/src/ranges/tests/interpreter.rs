//! Results of instructions for single values, from the texts of the SPIR-V and `GLSL.std.450` specifications.

use super::{mask, signed};
use vkabort_spirv::op::{self, glsl};

/// The result of an instruction with one operand of a width, before it is cut to the width of its type.
pub(super) fn unary(opcode: u16, value: u64, from: u32) -> u64 {
    let bit = |number: u32| value >> number & 1;
    match opcode {
        op::UConvert | op::Bitcast | op::CopyObject => value,
        op::SConvert => signed(value, from) as u64,
        op::SNegate => value.wrapping_neg(),
        op::Not => !value,
        op::BitCount => (0..from).map(bit).sum(),
        op::BitReverse => (0..from).fold(0, |all, number| all << 1 | bit(number)),
        _ => panic!("not a unary opcode: {opcode}"),
    }
}

/// The result of an instruction with two operands of a width. `None` if it is undefined.
pub(super) fn binary(opcode: u16, left: u64, right: u64, bits: u32) -> Option<u64> {
    let (a, b) = (i128::from(signed(left, bits)), i128::from(signed(right, bits)));
    let is_shift_defined = right < u64::from(bits);
    let is_division_defined = b != 0 && !(b == -1 && a == -(1 << (bits - 1)));
    let result = match opcode {
        op::IAdd => a + b,
        op::ISub => a - b,
        op::IMul => a * b,
        op::UDiv if right != 0 => i128::from(left / right),
        op::UMod if right != 0 => i128::from(left % right),
        op::SDiv if is_division_defined => a / b,
        op::SRem if is_division_defined => a % b,
        op::SMod if is_division_defined => match a % b {
            rest if rest != 0 && (rest < 0) != (b < 0) => rest + b,
            rest => rest,
        },
        op::ShiftLeftLogical if is_shift_defined => i128::from(left) << right,
        op::ShiftRightLogical if is_shift_defined => i128::from(left >> right),
        op::ShiftRightArithmetic if is_shift_defined => a >> right,
        op::BitwiseAnd => a & b,
        op::BitwiseOr => a | b,
        op::BitwiseXor => a ^ b,
        _ => return None,
    };
    Some(result as u64 & mask(bits))
}

/// The bit field of a value. `None` if it is undefined.
pub(super) fn field(opcode: u16, base: u64, offset: u64, count: u64, bits: u32) -> Option<u64> {
    if offset + count > u64::from(bits) {
        return None;
    }
    let taken = (0..count).map(|number| (base >> (offset + number) & 1) << number).sum();
    Some(match opcode {
        op::BitFieldSExtract if count > 0 => signed(taken, count as u32) as u64 & mask(bits),
        _ => taken,
    })
}

/// `OpBitFieldInsert`. `None` if it is undefined.
pub(super) fn inserted(base: u64, insert: u64, offset: u64, count: u64, bits: u32) -> Option<u64> {
    let bit = |number: u64| match number.checked_sub(offset) {
        Some(from) if from < count => insert >> from & 1,
        _ => base >> number & 1,
    };
    (offset + count <= u64::from(bits)).then(|| (0..u64::from(bits)).map(|number| bit(number) << number).sum())
}

/// The result of an instruction of `GLSL.std.450`. `None` if it is undefined.
pub(super) fn glsl(number: u32, operands: &[u64], bits: u32) -> Option<u64> {
    let highest = |different: u64| (0..bits).rev().find(|bit| operands[0] >> bit & 1 != different);
    let number_or_none = |bit: Option<u32>| bit.map_or(u64::MAX, u64::from);
    let s = |word: usize| signed(operands[word], bits);
    let result = match number {
        glsl::SAbs => s(0).wrapping_abs() as u64,
        glsl::SSign => s(0).signum() as u64,
        glsl::UMin => operands[0].min(operands[1]),
        glsl::UMax => operands[0].max(operands[1]),
        glsl::SMin => s(0).min(s(1)) as u64,
        glsl::SMax => s(0).max(s(1)) as u64,
        glsl::UClamp if operands[1] <= operands[2] => operands[0].clamp(operands[1], operands[2]),
        glsl::SClamp if s(1) <= s(2) => s(0).clamp(s(1), s(2)) as u64,
        glsl::FindILsb => number_or_none((0..bits).find(|bit| operands[0] >> bit & 1 == 1)),
        glsl::FindUMsb => number_or_none(highest(0)),
        glsl::FindSMsb => number_or_none(highest(operands[0] >> (bits - 1))),
        _ => return None,
    };
    Some(result & mask(bits))
}

/// The result of a comparison.
pub(super) fn compare(opcode: u16, left: u64, right: u64, bits: u32) -> bool {
    let (a, b) = (signed(left, bits), signed(right, bits));
    match opcode {
        op::IEqual => left == right,
        op::INotEqual => left != right,
        op::ULessThan => left < right,
        op::ULessThanEqual => left <= right,
        op::UGreaterThan => left > right,
        op::UGreaterThanEqual => left >= right,
        op::SLessThan => a < b,
        op::SLessThanEqual => a <= b,
        op::SGreaterThan => a > b,
        op::SGreaterThanEqual => a >= b,
        _ => panic!("not a comparison: {opcode}"),
    }
}
