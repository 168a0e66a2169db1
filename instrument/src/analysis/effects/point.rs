//! Points at which a value has an effect, with their conditions.

use crate::analysis::index::typed::BlockIndex;
use crate::spv::Id;

/// A part of a condition under which a value has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Condition {
    pub(crate) value: Id,
    /// The component of a vector.
    pub(crate) component: Option<u32>,
    pub(crate) test: Test,
}

/// What a condition asks of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Test {
    True,
    False,
    /// Of a number.
    NonZero,
    /// The value is a variable of the function that planted code has set to true.
    Stored,
}

/// A place at which a value is certain to have an effect if the conditions hold, which are known there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EffectPoint {
    pub(crate) block: BlockIndex,
    /// Word offset of an instruction.
    pub(crate) offset: usize,
    pub(crate) conditions: Vec<Condition>,
}
