//! Compact records: those of messages whose constant words the host has, because it has rewritten their module.
//!
//! ```text
//! record:  word 0  the first word of IDENTITY, 0 without one
//!               1  ORIGIN   the low bits of the code's hash (bits 0-27), units of this record less 1 (28-29), 1 (31)
//!             2..  the other words of IDENTITY that the stage uses
//!               .  SPECIALIZATION, if bit 29 of TAG is set
//!             ...  the values of the site's template
//!            last  TAG      site (bits 0-13), entry point (14-28), whether the record has SPECIALIZATION (29), whether it
//!                           has LocalInvocationIndex (30), 1 (31)
//! ```
//!
//! Bit 31 is 0 in the LENGTH of other records. Of codes with equal ORIGINs, at most one has compact records. A record takes a
//! slot at most.
//!
//! No word commits a record after all others: TAG is in the last unit and ORIGIN in the first, so that a record of which one unit
//! is missing is known as unfinished. The last unit of a record of more than two is stored behind a memory barrier.

use crate::layout::{SLOT_UNITS, UNIT_WORDS};
use crate::site::{CodeHash, ModuleHash};

/// Words besides the payload: ORIGIN and TAG.
pub const HEADER_WORDS: u32 = 2;
/// Index of the first word behind ORIGIN.
pub const FIRST_WORD: u32 = 2;
/// Bits of a site.
pub const SITE_BITS: u32 = 14;
const SITE_MASK: u32 = (1 << SITE_BITS) - 1;
const ENTRY_SHIFT: u32 = SITE_BITS;
const ENTRY_MASK: u32 = (1 << (29 - ENTRY_SHIFT)) - 1;
const HAS_SPECIALIZATION: u32 = 1 << 29;
const HAS_LOCAL_INDEX: u32 = 1 << 30;
const IS_COMPACT: u32 = 1 << 31;
const UNITS_SHIFT: u32 = 28;
const UNITS_MASK: u32 = SLOT_UNITS - 1;

/// The low bits of a code's hash, which its compact records have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShortHash(u32);

impl From<CodeHash> for ShortHash {
    fn from(CodeHash(hash): CodeHash) -> Self {
        Self(hash.0 as u32 & ((1 << UNITS_SHIFT) - 1))
    }
}

impl ShortHash {
    /// As the hash of code of which no more is known.
    pub fn alone(self) -> CodeHash {
        ModuleHash(self.0.into()).into()
    }
}

/// The word ORIGIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The code that wrote the record.
    pub code: ShortHash,
    /// Units of the record, at most [`SLOT_UNITS`].
    pub units: u32,
}

impl Origin {
    /// The word of a record of `units` units.
    pub fn word(code: CodeHash, units: u32) -> u32 {
        IS_COMPACT | (units.saturating_sub(1) & UNITS_MASK) << UNITS_SHIFT | ShortHash::from(code).0
    }

    /// Reads word 1 of a record. `None` for the LENGTH of a record that is not compact.
    pub fn read(word: u32) -> Option<Self> {
        (word & IS_COMPACT != 0).then_some(Self {
            code: CodeHash(ModuleHash(word.into())).into(),
            units: (word >> UNITS_SHIFT & UNITS_MASK) + 1,
        })
    }

    /// Index of the word TAG in the record.
    pub fn tag_word(self) -> u32 {
        self.units * UNIT_WORDS - 1
    }
}

/// The word TAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Index of the site.
    pub site: u32,
    /// Index of the entry point in the module's site table.
    pub entry_point: u32,
    /// Whether the record has SPECIALIZATION.
    pub has_specialization: bool,
    /// Whether IDENTITY ends with LocalInvocationIndex.
    pub has_local_index: bool,
}

impl Tag {
    /// The word. `None` if a number is too large: memory that was lost with the device, whose bits are all ones, is not a tag.
    pub fn word(self) -> Option<u32> {
        let fits = self.site < SITE_MASK && self.entry_point <= ENTRY_MASK;
        let flag = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        fits.then_some(
            IS_COMPACT
                | self.site
                | self.entry_point << ENTRY_SHIFT
                | flag(self.has_specialization, HAS_SPECIALIZATION)
                | flag(self.has_local_index, HAS_LOCAL_INDEX),
        )
    }

    /// Reads the last word of a compact record. `None` if it is missing.
    pub fn read(word: u32) -> Option<Self> {
        let tag = Self {
            site: word & SITE_MASK,
            entry_point: word >> ENTRY_SHIFT & ENTRY_MASK,
            has_specialization: word & HAS_SPECIALIZATION != 0,
            has_local_index: word & HAS_LOCAL_INDEX != 0,
        };
        (tag.word() == Some(word)).then_some(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_as_they_were_written() {
        let tag = Tag {
            site: SITE_MASK - 1,
            entry_point: ENTRY_MASK,
            has_specialization: true,
            has_local_index: false,
        };
        assert_eq!(tag.word().and_then(Tag::read), Some(tag));
        let tag = Tag {
            has_local_index: true,
            has_specialization: false,
            ..tag
        };
        assert_eq!(tag.word().and_then(Tag::read), Some(tag));
        assert_eq!(Tag { site: SITE_MASK, ..tag }.word(), None);
        assert_eq!(Tag::read(0), None);
        assert_eq!(Tag::read(u32::MAX), None);
    }

    #[test]
    fn origins_are_read_as_they_were_written() {
        for units in 1..=SLOT_UNITS {
            let code = CodeHash(ModuleHash(0xFFFF_FFFF_FEDC_BA98));
            let origin = Origin::read(Origin::word(code, units)).expect("an ORIGIN");
            assert_eq!((origin.code, origin.units), (code.into(), units));
            assert_eq!(origin.code.alone(), CodeHash(ModuleHash(0xEDC_BA98)));
        }
        assert_eq!(Origin::read(crate::layout::record_units(1 << 24)), None);
    }
}
