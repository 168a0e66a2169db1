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
}

impl<'w> Place<'w> {
    /// The place of a check of `guarded` at a point.
    pub(super) fn of_point(point: &EffectPoint, guarded: Inst<'w>, position: Position<'w>) -> Self {
        Self {
            block: point.block,
            offset: point.offset,
            guarded,
            position,
            is_of_fault: false,
        }
    }
}
