//! Values of integer constants and, since array lengths may depend on them, of Boolean constants, which are 0 or 1.

use super::Index;
use crate::op::decoration;
use crate::{Id, Inst, op};
use rustc_hash::FxHashMap as HashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// Limit on constants evaluated for one length, and so on the depth of recursion.
const MAX_STEPS: u32 = 128;

/// An integer constant used as an array length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Independent of specialisation.
    Fixed(u64),
    /// Depends on specialisation constants.
    Specialised {
        /// `SpecId` of the constant, `None` for expressions.
        spec_id: Option<u32>,
        /// Value without specialisation.
        default: u64,
    },
}

impl Length {
    pub fn value(self) -> u64 {
        match self {
            Self::Fixed(value) | Self::Specialised { default: value, .. } => value,
        }
    }
}

/// Data of specialised constants by `SpecId`.
pub type Specialization = BTreeMap<u32, Vec<u8>>;

impl Index<'_> {
    /// Evaluates an array's length. `None` if it is not an integer constant or too complex.
    pub fn length(&self, id: Id, specialization: &Specialization) -> Option<Length> {
        let is_integer = self.opcode(self.type_of(id)) == op::TypeInt;
        self.value(id, specialization).filter(|_| is_integer)
    }

    /// Evaluates an integer or Boolean constant, or one that an instruction extracts from a constant composite.
    pub fn value(&self, id: Id, specialization: &Specialization) -> Option<Length> {
        let mut evaluation = Evaluation {
            index: self,
            specialization,
            steps: MAX_STEPS,
            results: HashMap::default(),
        };
        evaluation.value(id)
    }

    /// Value of an integer `OpConstant` or `OpSpecConstant`, zero-extended.
    pub fn literal(&self, inst: &Inst<'_>) -> Option<u64> {
        let ty = self.def(inst.result_type())?;
        if ty.opcode() != op::TypeInt {
            return None;
        }
        // Literals narrower than a word are sign-extended in it.
        Some(wrapped(inst.constant_bits(), ty.width().clamp(1, 64)))
    }

    /// Width of an integer type of up to 64 bits, 1 for Booleans.
    fn bits(&self, ty: Id) -> Option<u32> {
        let ty = self.def(ty)?;
        match ty.opcode() {
            op::TypeBool => Some(1),
            op::TypeInt => Some(ty.width()).filter(|bits| (1..=64).contains(bits)),
            _ => None,
        }
    }
}

/// The operand of an `OpConstant` or `OpSpecConstant` of an integer type. Literals narrower than a word are sign-extended
/// in it.
pub fn literal_words(ty: &Inst<'_>, value: u64) -> SmallVec<[u32; 2]> {
    match (ty.width(), ty.is_signed_int()) {
        (bits @ 1..=31, true) => smallvec![sign_extended(value, bits) as u32],
        (bits @ 1..=31, false) => smallvec![wrapped(value, bits) as u32],
        (33.., _) => smallvec![value as u32, (value >> 32) as u32],
        _ => smallvec![value as u32],
    }
}

/// The low `bits` bits of a value. `bits` is 1 to 64.
pub fn wrapped(value: u64, bits: u32) -> u64 {
    value & (u64::MAX >> (64 - bits))
}

fn sign_extended(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)).cast_signed() >> (64 - bits)
}

/// The evaluation of one length.
struct Evaluation<'a, 'w> {
    index: &'a Index<'w>,
    specialization: &'a Specialization,
    /// Remaining steps, from [`MAX_STEPS`].
    steps: u32,
    /// Values of expressions. They share operands, so that few instructions may form exponentially many paths.
    results: HashMap<Id, Length>,
}

impl Evaluation<'_, '_> {
    fn value(&mut self, id: Id) -> Option<Length> {
        self.steps = self.steps.checked_sub(1)?;
        let inst = self.index.def(id)?;
        match inst.opcode() {
            op::Constant => Some(Length::Fixed(self.index.literal(&inst)?)),
            op::ConstantNull | op::ConstantFalse => Some(Length::Fixed(0)),
            op::ConstantTrue => Some(Length::Fixed(1)),
            op::SpecConstant => self.specialised(&inst, self.index.literal(&inst)?),
            op::SpecConstantTrue => self.specialised(&inst, 1),
            op::SpecConstantFalse => self.specialised(&inst, 0),
            op::CompositeExtract => self.part(inst.id(3), inst.from(4)),
            op::SpecConstantOp => {
                if let Some(result) = self.results.get(&id) {
                    return Some(*result);
                }
                let value = self.operation(inst.spec_opcode(), inst.from(4))?;
                let bits = self.index.bits(inst.result_type())?;
                let value = match value {
                    Length::Fixed(value) => Length::Fixed(wrapped(value, bits)),
                    Length::Specialised { default, .. } => depends(wrapped(default, bits)),
                };
                self.results.insert(id, value);
                Some(value)
            }
            _ => None,
        }
    }

    /// A constant that a pipeline may specialise.
    fn specialised(&self, inst: &Inst<'_>, default: u64) -> Option<Length> {
        let Some(spec_id) = self.index.decoration(inst.result(), decoration::SpecId) else {
            return Some(Length::Fixed(default));
        };
        let Some(bytes) = self.specialization.get(&spec_id) else {
            let spec_id = Some(spec_id);
            return Some(Length::Specialised { spec_id, default });
        };
        let mut wide = [0; 8];
        let bytes = bytes.get(..bytes.len().min(8))?;
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let value = u64::from_le_bytes(wide);
        let bits = self.index.bits(inst.result_type())?;
        Some(Length::Fixed(match bits {
            1 => u64::from(value != 0),
            _ => wrapped(value, bits),
        }))
    }

    fn operation(&mut self, opcode: u16, operands: &[u32]) -> Option<Length> {
        let id = |word: &u32| Id::new(*word);
        match (opcode, operands) {
            (op::CompositeExtract, [composite, path @ ..]) => self.part(id(composite), path),
            // The other operand need not have a value.
            (op::Select, [condition, yes, no]) => match self.value(id(condition))? {
                Length::Fixed(condition) => self.value(id(if condition != 0 { yes } else { no })),
                Length::Specialised { default, .. } => {
                    let selected = self.value(id(if default != 0 { yes } else { no }))?;
                    Some(depends(selected.value()))
                }
            },
            (_, [one]) => {
                let value = self.value(id(one))?;
                let bits = self.index.bits(self.index.type_of(id(one)))?;
                let result = unary(opcode, value.value(), bits)?;
                Some(match value {
                    Length::Fixed(_) => Length::Fixed(result),
                    Length::Specialised { .. } => depends(result),
                })
            }
            (_, [left, right]) => {
                let bits = self.index.bits(self.index.type_of(id(left)))?;
                let (left, right) = (self.value(id(left))?, self.value(id(right))?);
                let result = binary(opcode, left.value(), right.value(), bits)?;
                Some(match (left, right) {
                    (Length::Fixed(_), Length::Fixed(_)) => Length::Fixed(result),
                    _ => depends(result),
                })
            }
            _ => None,
        }
    }

    /// A part of a composite constant.
    fn part(&mut self, composite: Id, path: &[u32]) -> Option<Length> {
        let mut id = composite;
        for number in path {
            self.steps = self.steps.checked_sub(1)?;
            let inst = self.index.def(id)?;
            match inst.opcode() {
                op::ConstantNull => return Some(Length::Fixed(0)),
                op::ConstantComposite | op::SpecConstantComposite => id = inst.ids(3).nth(*number as usize)?,
                _ => return None,
            }
        }
        self.value(id)
    }
}

/// The value of an expression that depends on specialisation constants.
fn depends(default: u64) -> Length {
    Length::Specialised { spec_id: None, default }
}

/// Result of an operation on one operand of `bits` bits, before it is wrapped to the width of the result.
fn unary(opcode: u16, a: u64, bits: u32) -> Option<u64> {
    Some(match opcode {
        op::UConvert | op::CopyObject => a,
        op::SConvert => sign_extended(a, bits).cast_unsigned(),
        op::SNegate => a.wrapping_neg(),
        op::Not => !a,
        op::LogicalNot => u64::from(a == 0),
        _ => return None,
    })
}

/// Result of an operation on two operands, the first of `bits` bits, before it is wrapped to the width of the result.
pub fn binary(opcode: u16, a: u64, b: u64, bits: u32) -> Option<u64> {
    let (signed_a, signed_b) = (sign_extended(a, bits), sign_extended(b, bits));
    let shift = u32::try_from(b).ok().filter(|shift| *shift < bits);
    Some(match opcode {
        op::IAdd => a.wrapping_add(b),
        op::ISub => a.wrapping_sub(b),
        op::IMul => a.wrapping_mul(b),
        op::UDiv => a.checked_div(b)?,
        op::UMod => a.checked_rem(b)?,
        op::SDiv => signed_a.checked_div(signed_b)?.cast_unsigned(),
        op::SRem => signed_a.checked_rem(signed_b)?.cast_unsigned(),
        // The result has the sign of the divisor.
        op::SMod => match signed_a.checked_rem(signed_b)? {
            rest if rest != 0 && (rest < 0) != (signed_b < 0) => (rest + signed_b).cast_unsigned(),
            rest => rest.cast_unsigned(),
        },
        op::ShiftLeftLogical => a << shift?,
        op::ShiftRightLogical => a >> shift?,
        op::ShiftRightArithmetic => (signed_a >> shift?).cast_unsigned(),
        op::BitwiseAnd => a & b,
        op::BitwiseOr => a | b,
        op::BitwiseXor => a ^ b,
        op::LogicalAnd => u64::from(a != 0 && b != 0),
        op::LogicalOr => u64::from(a != 0 || b != 0),
        op::LogicalEqual | op::IEqual => u64::from(a == b),
        op::LogicalNotEqual | op::INotEqual => u64::from(a != b),
        op::UGreaterThan => u64::from(a > b),
        op::UGreaterThanEqual => u64::from(a >= b),
        op::ULessThan => u64::from(a < b),
        op::ULessThanEqual => u64::from(a <= b),
        op::SGreaterThan => u64::from(signed_a > signed_b),
        op::SGreaterThanEqual => u64::from(signed_a >= signed_b),
        op::SLessThan => u64::from(signed_a < signed_b),
        op::SLessThanEqual => u64::from(signed_a <= signed_b),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_the_width_of_their_operands() {
        let at_8 = |opcode, a, b| binary(opcode, a, b, 8).map(|v| wrapped(v, 8));
        assert_eq!(at_8(op::IAdd, 250, 10), Some(4));
        assert_eq!(at_8(op::SDiv, 0xF8, 2), Some(0xFC));
        assert_eq!(at_8(op::SMod, 0xF9, 3), Some(2));
        assert_eq!(at_8(op::SLessThan, 0xFF, 0), Some(1));
        assert_eq!(at_8(op::ULessThan, 0xFF, 0), Some(0));
        assert_eq!(at_8(op::ShiftRightArithmetic, 0x80, 7), Some(0xFF));
        assert_eq!(at_8(op::ShiftLeftLogical, 1, 8), None);
        assert_eq!(at_8(op::UDiv, 1, 0), None);
        assert_eq!(binary(op::SDiv, 1 << 63, u64::MAX, 64), None);
        assert_eq!(unary(op::SConvert, 0x80, 8), Some(0xFFFF_FFFF_FFFF_FF80));
        assert_eq!(sign_extended(u64::MAX, 64), -1);
    }
}
