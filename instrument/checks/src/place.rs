//! Place of a planted check, and the key of its test.

use smallvec::SmallVec;
use vkabort_analysis::effects::EffectPoint;
use vkabort_spirv::Inst;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::index::typed::BlockIndex;

/// Key of a test, in words: the check, and the values that it tests.
pub(super) type TestKey = (u32, SmallVec<[u32; 8]>);

/// A place for a check: before the instruction at a word offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'w> {
    pub(super) block: BlockIndex,
    pub(super) offset: usize,
    /// The instruction whose position in the module the site has.
    pub(super) guarded: Inst<'w>,
    /// The position in the source that the site has.
    pub(super) position: Position<'w>,
    /// Whether the test is of a fault that code in front of the place computes: it cannot be made earlier.
    pub(super) is_of_fault: bool,
    /// Whether the message names the fault by its number.
    pub(super) names_fault: bool,
    /// The position of the one effect of the fault.
    pub(super) effect: Option<Position<'w>>,
}

impl<'w> Place<'w> {
    /// The place of a check of `guarded` in front of the instruction at `offset`.
    pub(super) fn new(block: BlockIndex, offset: usize, (guarded, position): (Inst<'w>, Position<'w>)) -> Self {
        Self {
            block,
            offset,
            guarded,
            position,
            is_of_fault: false,
            names_fault: false,
            effect: None,
        }
    }

    /// The place of a check of `guarded` at a point.
    pub(super) fn of_point(point: &EffectPoint, guarded: Inst<'w>, position: Position<'w>) -> Self {
        Self::new(point.block, point.offset, (guarded, position))
    }
}
