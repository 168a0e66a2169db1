//! A word of the shadow, which records one access to a scalar.
//!
//! ```text
//! epoch (12 bits) | kind (3) | site (7) | who (10)
//! ```
//!
//! The *description* of an access is the constant part of its word. In place of the epoch and `who` it has the first of the sites that
//! store the same value, and their number: 0 unless the access stores a value that races with no other store of it.
//!
//! Each word is the greatest of those that the accesses of its scalar have written since the invocation began, so the order of the
//! fields and of the kinds decides which access stays.

use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, op};

const WHO_BITS: u32 = 10;
const SITE_BITS: u32 = 7;
const KIND_BITS: u32 = 3;
const SITE_SHIFT: u32 = WHO_BITS;
const KIND_SHIFT: u32 = WHO_BITS + SITE_BITS;
const EPOCH_SHIFT: u32 = KIND_SHIFT + KIND_BITS;

/// Most invocations of a workgroup.
pub(super) const MAX_INVOCATIONS: u32 = 1 << WHO_BITS;
/// Numbers of sites. The last one stands for all others.
pub(super) const SITES: u32 = 1 << SITE_BITS;
const WHO: u32 = MAX_INVOCATIONS - 1;
const KINDS: u32 = ((1 << KIND_BITS) - 1) << KIND_SHIFT;
pub(super) const FIRST_EPOCH: u32 = 1 << EPOCH_SHIFT;
/// An epoch that no invocation is in.
pub(super) const NEVER: u32 = u32::MAX << EPOCH_SHIFT;

/// Kind of an access; of two of one epoch, the greater one stays in the shadow.
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

/// The description of an access. `same`: the first of the sites that store the same value, and their number.
pub(super) fn description(kind: Kind, site: u32, same: Option<(u32, u32)>) -> u32 {
    let (first, count) = same.unwrap_or_default();
    first << EPOCH_SHIFT | kind.bits() | site << SITE_SHIFT | count
}

/// Writes the word of an access of `who` in an epoch.
pub(super) fn write_word(out: &mut Emitter, description: Id, [who, epoch]: [Id; 2]) -> Id {
    let fields = out.constant(KINDS | (SITES - 1) << SITE_SHIFT);
    let own = out.calculate(op::BitwiseAnd, (description, fields));
    let own = out.calculate(op::BitwiseOr, (own, who));
    out.calculate(op::BitwiseOr, (own, epoch))
}

/// Writes whether a word is of a store of the value that an access with this description stores.
pub(super) fn write_is_same(out: &mut Emitter, word: Id, description: Id) -> Id {
    let bool = out.bool();
    let [epoch_shift, site_shift] = [EPOCH_SHIFT, SITE_SHIFT].map(|value| out.constant(value));
    let [mask, store] = [!(u32::MAX << EPOCH_SHIFT), Kind::Store.bits()].map(|value| out.constant(value));
    let first = out.calculate(op::ShiftRightLogical, (description, epoch_shift));
    let first = out.calculate(op::ShiftLeftLogical, (first, site_shift));
    let first = out.calculate(op::BitwiseOr, (first, store));
    let count = write_who(out, description);
    let count = out.calculate(op::ShiftLeftLogical, (count, site_shift));
    let masked = out.calculate(op::BitwiseAnd, (word, mask));
    let from_first = out.calculate(op::ISub, (masked, first));
    out.emit(op::ULessThan, bool, (from_first, count))
}

/// Writes the number of the site of a word.
pub(super) fn write_site(out: &mut Emitter, word: Id) -> Id {
    let [shift, mask] = [SITE_SHIFT, SITES - 1].map(|value| out.constant(value));
    let site = out.calculate(op::ShiftRightLogical, (word, shift));
    out.calculate(op::BitwiseAnd, (site, mask))
}

/// Writes the invocation or subgroup of a word.
pub(super) fn write_who(out: &mut Emitter, word: Id) -> Id {
    let who = out.constant(WHO);
    out.calculate(op::BitwiseAnd, (word, who))
}
