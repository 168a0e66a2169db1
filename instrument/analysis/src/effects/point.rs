//! Points at which a value has an effect, with their conditions.

use vkabort_spirv::Id;
use vkabort_spirv::index::typed::BlockIndex;

/// A part of a condition under which a value has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    pub value: Id,
    /// The component of a vector.
    pub component: Option<u32>,
    pub test: Test,
}

/// Test of a condition's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    True,
    False,
    /// Of a number.
    NonZero,
}

/// A place in front of the instruction at a word offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectPoint {
    pub block: BlockIndex,
    pub offset: usize,
}
