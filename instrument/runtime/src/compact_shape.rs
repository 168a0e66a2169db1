//! The list of words in an entry point's compact records.

use vkabort_record::compact::HEADER_WORDS;
use vkabort_record::layout::UNIT_WORDS;

/// The words of an entry point's compact records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactShape {
    /// Words of IDENTITY.
    pub(super) identity: u32,
    pub(super) has_local_index: bool,
    pub(super) has_specialization: bool,
    pub(super) values: u32,
}

impl CompactShape {
    /// Units of each record.
    pub(super) fn units(self) -> u32 {
        // The first word is of IDENTITY, also if that is empty.
        let words = HEADER_WORDS + self.identity.max(1) + u32::from(self.has_specialization) + self.values;
        words.div_ceil(UNIT_WORDS)
    }
}
