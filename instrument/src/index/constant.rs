//! Values of constants.

use super::Index;
use crate::options::Options;
use crate::spv::op::decoration;
use crate::spv::{Id, Inst, op};

/// An integer constant used as an array length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// The same whatever a pipeline specialises.
    Fixed(u64),
    /// Depends on specialisation constants: the `SpecId` if it is one itself, and the value when nothing is specialised.
    Specialised {
        /// `SpecId`, [`u32::MAX`] for expressions.
        spec_id: u32,
        default: u64,
    },
}

impl Length {
    pub(crate) fn value(self) -> u64 {
        match self {
            Self::Fixed(value) | Self::Specialised { default: value, .. } => value,
        }
    }
}

impl Index<'_> {
    /// Evaluates an array's length. `None` if it is no integer constant that this can evaluate.
    pub(crate) fn length(&self, id: Id, options: &Options) -> Option<Length> {
        self.length_within(id, options, 16)
    }

    fn length_within(&self, id: Id, options: &Options, depth: u32) -> Option<Length> {
        let inst = self.def(id)?;
        let depth = depth.checked_sub(1)?;
        match inst.opcode() {
            op::Constant => Some(Length::Fixed(self.literal(&inst)?)),
            op::ConstantNull => Some(Length::Fixed(0)),
            op::SpecConstant => {
                let default = self.literal(&inst)?;
                match self.decoration(id, decoration::SpecId) {
                    None => Some(Length::Fixed(default)),
                    Some(spec_id) => Some(match options.specialization.get(&spec_id) {
                        Some(bytes) => {
                            let mut wide = [0; 8];
                            let bytes = bytes.get(..bytes.len().min(8))?;
                            wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
                            Length::Fixed(u64::from_le_bytes(wide))
                        }
                        None => Length::Specialised { spec_id, default },
                    }),
                }
            }
            op::SpecConstantOp => {
                let left = self.length_within(inst.word(4), options, depth)?;
                let right = match inst.word(3) as u16 {
                    op::UConvert | op::SConvert | op::CopyObject => Length::Fixed(0),
                    _ => self.length_within(inst.word(5), options, depth)?,
                };
                let (a, b) = (left.value() as u32, right.value() as u32);
                let value = match inst.word(3) as u16 {
                    op::UConvert | op::SConvert | op::CopyObject => a,
                    op::IAdd => a.wrapping_add(b),
                    op::ISub => a.wrapping_sub(b),
                    op::IMul => a.wrapping_mul(b),
                    op::UDiv => a.checked_div(b)?,
                    op::UMod => a.checked_rem(b)?,
                    op::SDiv => (a as i32).checked_div(b as i32)? as u32,
                    op::ShiftLeftLogical => a.checked_shl(b)?,
                    op::ShiftRightLogical => a.checked_shr(b)?,
                    op::BitwiseAnd => a & b,
                    op::BitwiseOr => a | b,
                    _ => return None,
                };
                Some(match (left, right) {
                    (Length::Fixed(_), Length::Fixed(_)) => Length::Fixed(value.into()),
                    _ => Length::Specialised {
                        spec_id: u32::MAX,
                        default: value.into(),
                    },
                })
            }
            _ => None,
        }
    }

    /// Value of an integer `OpConstant` or `OpSpecConstant`, zero-extended.
    pub(crate) fn literal(&self, inst: &Inst<'_>) -> Option<u64> {
        let ty = self.def(inst.result_type())?;
        if ty.opcode() != op::TypeInt {
            return None;
        }
        let low = u64::from(inst.word(3));
        let bits = ty.word(2);
        let value = if bits > 32 {
            low | u64::from(inst.word(4)) << 32
        } else {
            low
        };
        // Literals narrower than a word are sign-extended in it.
        Some(if bits < 32 { value & ((1 << bits) - 1) } else { value })
    }
}
