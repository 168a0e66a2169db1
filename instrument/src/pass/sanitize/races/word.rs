//! A word of the shadow, which records one access to a scalar.
//!
//! ```text
//! epoch (12 bits) | kind (3) | site (7) | who (10)
//! ```
//!
//! Each word is the greatest of those that the accesses of its scalar have written since the invocation began, so the order of the
//! fields and of the kinds decides which access stays.

use crate::edit::emitter::Emitter;
use crate::spv::{Id, op};

const WHO_BITS: u32 = 10;
const SITE_BITS: u32 = 7;
const KIND_BITS: u32 = 3;
pub(super) const SITE_SHIFT: u32 = WHO_BITS;
const KIND_SHIFT: u32 = WHO_BITS + SITE_BITS;
pub(super) const EPOCH_SHIFT: u32 = KIND_SHIFT + KIND_BITS;

/// Most invocations of a workgroup.
pub(super) const MAX_INVOCATIONS: u32 = 1 << WHO_BITS;
/// Numbers of sites. The last one stands for all others.
pub(super) const SITES: u32 = 1 << SITE_BITS;
const WHO: u32 = MAX_INVOCATIONS - 1;
const KINDS: u32 = ((1 << KIND_BITS) - 1) << KIND_SHIFT;
pub(super) const FIRST_EPOCH: u32 = 1 << EPOCH_SHIFT;
/// An epoch that no invocation is in.
pub(super) const NEVER: u32 = u32::MAX << EPOCH_SHIFT;

/// What an access does; of two of one epoch, the greater one stays in the shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Atomic = 1,
    Load = 2,
    /// Loads of more than one invocation.
    Loads = 3,
    Store = 4,
}

impl Kind {
    pub(super) fn bits(self) -> u32 {
        (self as u32) << KIND_SHIFT
    }
}

/// Writes whether a word is of a kind.
pub(super) fn write_is(out: &mut Emitter, word: Id, kind: Kind) -> Id {
    let (bool, kinds, bits) = (out.bool(), out.constant(KINDS), out.constant(kind.bits()));
    let masked = out.calculate(op::BitwiseAnd, (word, kinds));
    out.emit(op::IEqual, bool, (masked, bits))
}

/// Writes whether a word is of a store at one of `count` sites from `first` on.
pub(super) fn write_is_store_at(out: &mut Emitter, word: Id, (first, count): (u32, u32)) -> Id {
    let bool = out.bool();
    let below = out.constant(Kind::Store.bits() | first << SITE_SHIFT);
    let [mask, count] = [!(u32::MAX << EPOCH_SHIFT), count << SITE_SHIFT].map(|value| out.constant(value));
    let masked = out.calculate(op::BitwiseAnd, (word, mask));
    let from_first = out.calculate(op::ISub, (masked, below));
    out.emit(op::ULessThan, bool, (from_first, count))
}

/// Writes the invocation or subgroup of a word.
pub(super) fn write_who(out: &mut Emitter, word: Id) -> Id {
    let who = out.constant(WHO);
    out.calculate(op::BitwiseAnd, (word, who))
}
