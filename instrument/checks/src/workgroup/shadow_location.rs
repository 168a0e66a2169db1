//! Location of shadow words: shared memory, or the workgroup's block of the shadow area.

use super::block::ShadowBlock;
use super::shared_words::SharedWords;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::scope;
use vkabort_spirv::{Id, op};

/// Location of the shadow of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShadowLocation {
    Shared,
    Block,
}

/// The shadow words at a location.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ShadowWords<'a> {
    /// Those of this variable.
    Shared(Id),
    Block(&'a ShadowBlock),
}

impl<'a> ShadowWords<'a> {
    /// The words that are reserved. `None` if there is no block.
    pub(crate) fn new(out: &mut Emitter, shared_words: &'a mut SharedWords, location: ShadowLocation) -> Option<Self> {
        match location {
            ShadowLocation::Shared => Some(Self::Shared(shared_words.variable(out))),
            ShadowLocation::Block => shared_words.block.as_ref().map(Self::Block),
        }
    }

    /// Words of the block. `None` for shared memory.
    pub(crate) fn words(self) -> Option<u32> {
        match self {
            Self::Shared(_) => None,
            Self::Block(block) => Some(block.words),
        }
    }

    /// Writes whether the workgroup has the word `at`, if there are `words` words.
    pub(crate) fn write_has(self, out: &mut Emitter, at: Id, words: Id) -> Id {
        let bool = out.bool();
        let is_inside = out.emit(op::ULessThan, bool, (at, words));
        match self {
            Self::Shared(_) => is_inside,
            Self::Block(block) => {
                let has_block = block.write_is_claimed(out);
                out.emit(op::LogicalAnd, bool, (is_inside, has_block))
            }
        }
    }

    /// Writes the pointer or offset of the word `at`, for [`Self::write_maximum`].
    pub(crate) fn write_place(self, out: &mut Emitter, at: Id) -> Id {
        match self {
            Self::Shared(variable) => SharedWords::word_of(out, variable, at),
            Self::Block(block) => block.write_offset(out, at),
        }
    }

    /// Writes the atomic that stores `value` to the word at a place if it is greater. Returns the word before.
    pub(crate) fn write_maximum(self, out: &mut Emitter, place: Id, value: Id) -> Id {
        match self {
            Self::Shared(_) => {
                let [workgroup, relaxed] = [scope::Workgroup, 0].map(|value| out.constant(value));
                out.calculate(op::AtomicUMax, (place, workgroup, relaxed, value))
            }
            Self::Block(block) => block.write_maximum(out, place, value),
        }
    }
}
