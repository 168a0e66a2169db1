//! Code that checks insert into a block.

use super::effect_free_range::is_computation;
use std::ops::Range;
use vkabort_spirv::edit::rematerialize_handles::Split;
use vkabort_spirv::index::debug::Position;
use vkabort_spirv::{Id, Inst, op};

/// Code inserted at a split of a block.
pub(super) enum BlockSplit<'w> {
    Code(Split),
    Test(Test<'w>),
}

/// A test with its abort. Its code is in `Planter::tests`.
pub(super) struct Test<'w> {
    pub(super) offset: usize,
    pub(super) guarded: Inst<'w>,
    /// The words that compute whether it failed.
    pub(super) condition: Range<usize>,
    pub(super) failed: Id,
    /// The words that end the invocation.
    pub(super) end: Range<usize>,
    /// Labels of the block with these words, and of the one behind it.
    pub(super) labels: [Id; 2],
    /// Whether it never fails in a helper invocation.
    pub(super) excludes_helpers: bool,
    /// Whether an invocation that ends is counted.
    pub(super) counts_end: bool,
    /// Whether its condition may be computed where another test has failed.
    pub(super) is_total: bool,
    /// Whether its words read the module's values only.
    pub(super) reads_values: bool,
    /// Whether the test is of a fault that code in front of it has computed.
    pub(super) is_of_fault: bool,
    /// The position of the instruction behind it.
    pub(super) behind: Position<'w>,
}

impl BlockSplit<'_> {
    pub(super) fn offset(&self) -> usize {
        match self {
            Self::Code(split) => split.offset,
            Self::Test(test) => test.offset,
        }
    }
}

impl Test<'_> {
    /// Whether an invocation that fails may go on for a stretch: the test is that of a computation, and beside it. That of a component
    /// may serve an access to an array of the same length, too.
    pub(super) fn may_wait(&self, glsl: &[Id]) -> bool {
        let is_beside = self.offset == self.guarded.offset || self.offset == self.guarded.end();
        let is_dynamic = matches!(
            self.guarded.opcode(),
            op::VectorExtractDynamic | op::VectorInsertDynamic
        );
        is_beside && !is_dynamic && is_computation(glsl, &self.guarded)
    }
}
