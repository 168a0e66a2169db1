//! The faults that can be planted: the code of each, and the report of its check.

use crate::module::Id;
use crate::op;

/// A fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The check that finds it.
    pub check: &'static str,
    /// The result of the instruction, the pointer of an `OpStore`, or the label of the block that ends with `OpUnreachable`.
    pub id: Id,
    /// Words of its values.
    pub values: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Divide(u16),
    DivideComponent,
    Overflow(u16),
    Shift(u16),
    BitField(u16),
    Load,
    Store,
    Convert,
    /// A store to the runtime array at the end of a buffer.
    StoreToBuffer,
    /// A store to an array of fixed size in a buffer.
    StoreToBufferArray,
    /// A store of these bits of a float that is not finite.
    Nan(u32),
    NanComponent,
    Unreachable,
    /// A load of a variable that the function has not stored.
    Unstored,
    /// The same of an element whose index is not constant.
    UnstoredElement,
    /// A product that overflows.
    Invalid,
}

pub(super) const KINDS: [Kind; 26] = [
    Kind::Divide(op::UDiv),
    Kind::Divide(op::UMod),
    Kind::Divide(op::SDiv),
    Kind::Divide(op::SRem),
    Kind::Divide(op::SMod),
    Kind::DivideComponent,
    Kind::Overflow(op::SDiv),
    Kind::Overflow(op::SRem),
    Kind::Shift(op::ShiftLeftLogical),
    Kind::Shift(op::ShiftRightLogical),
    Kind::Shift(op::ShiftRightArithmetic),
    Kind::BitField(op::BitFieldInsert),
    Kind::BitField(op::BitFieldSExtract),
    Kind::BitField(op::BitFieldUExtract),
    Kind::Load,
    Kind::Store,
    Kind::Convert,
    Kind::StoreToBuffer,
    Kind::StoreToBufferArray,
    Kind::Nan(0x7FC0_0000),
    Kind::Nan(0xFF80_0000),
    Kind::NanComponent,
    Kind::Unreachable,
    Kind::Unstored,
    Kind::UnstoredElement,
    Kind::Invalid,
];

impl Kind {
    /// The check that finds the fault.
    pub(super) fn check(self) -> &'static str {
        match self {
            Self::Divide(_) | Self::DivideComponent | Self::Overflow(_) => "divide",
            Self::Shift(_) | Self::BitField(_) => "shift",
            Self::Load | Self::Store => "bounds",
            Self::Convert => "convert",
            Self::StoreToBuffer | Self::StoreToBufferArray => "buffers",
            Self::Nan(_) | Self::NanComponent => "nan",
            Self::Unreachable => "unreachable",
            Self::Unstored | Self::UnstoredElement => "initialized",
            Self::Invalid => "invalid",
        }
    }
}

/// How the result of a fault has an effect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    Argument,
    Variable,
    Selected,
}

/// Code of both modules at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) offset: usize,
    pub(super) function: usize,
    /// The label of the block, if it can be split there.
    pub(super) split: Option<Id>,
    pub(super) kind: Kind,
    pub(super) effect: Effect,
    /// A value of the place or a constant, and a small number.
    pub(super) value: Option<Id>,
    pub(super) number: u32,
}
