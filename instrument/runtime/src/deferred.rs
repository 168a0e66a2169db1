//! Records that a site leaves to the end of the entry point: in private variables it stores a key and the words of the
//! message that are not constant.
//!
//! ```text
//! key:  bit 31 = 0   deferred: site (bits 0-13), bytes of payload (bits 14-26), units that the values behind it add (bits 27-30)
//!       bit 31 = 1   reserved and filled at the site: its unit (bits 0-30)
//!       NONE         no record: the arena is full, the site sends none, or another invocation has aborted
//!       RUNNING      the invocation has not aborted
//! ```
//!
//! An invocation that has left waits until the others of its subgroup have finished, and its variables occupy registers
//! all that time. So they are few.

use smallvec::SmallVec;
use vkabort_record::layout::{HEADER_UNITS, UNIT_WORDS, record_units};

/// Keys of records.
pub mod record_key {
    /// No record.
    pub const NONE: u32 = u32::MAX;
    /// The invocation has not aborted.
    pub(crate) const RUNNING: u32 = 0;
    /// Set in the keys of records that their sites have reserved.
    pub const IN_PLACE: u32 = 1 << 31;
    /// Bits of the site.
    pub(crate) const SITE_BITS: u32 = 14;

    /// Bits of the size.
    const SIZE_BITS: u32 = 13;
    /// Largest size in bytes.
    pub(crate) const MAX_SIZE: u32 = (1 << SIZE_BITS) - 1;
    /// Bit at which the units of the values behind the payload begin.
    pub(crate) const VALUES_SHIFT: u32 = SITE_BITS + SIZE_BITS;

    /// The key of a deferred record with a payload of `size` bytes to which values behind it add `values` units. `None` if one of them
    /// or the site is too large, or all are 0.
    pub fn deferred(site: u32, size: u32, values: u32) -> Option<u32> {
        let fits = site < 1 << SITE_BITS && size <= MAX_SIZE && values < 1 << (31 - VALUES_SHIFT);
        let key = values << VALUES_SHIFT | size << SITE_BITS | site;
        Some(key).filter(|key| fits && *key != RUNNING)
    }
}

/// A word of a deferred payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordWord {
    Constant(u32),
    /// The private variable with this number.
    Value(usize),
}

/// A unit of a deferred payload.
pub(super) type RecordUnit = [RecordWord; UNIT_WORDS as usize];

/// A deferred record.
#[derive(Clone, Debug)]
pub struct DeferredRecord {
    pub key: u32,
    pub site: u32,
    /// Bytes of payload.
    pub size: u32,
    /// Units that the values behind it add.
    pub value_units: u32,
    /// Words of the payload and of the values by index, ascending; the others are 0.
    pub words: Vec<(u32, RecordWord)>,
}

impl DeferredRecord {
    /// Units of the record, header included.
    pub(super) fn units(&self) -> u32 {
        record_units(self.size) + self.value_units
    }

    /// Units of the payload and of the values.
    pub(super) fn payload_units(&self) -> u32 {
        self.units() - HEADER_UNITS
    }

    /// Unit `number` of the payload and the values.
    pub(super) fn unit(&self, number: u32) -> RecordUnit {
        let mut unit = [RecordWord::Constant(0); UNIT_WORDS as usize];
        let first = self.words.partition_point(|(index, _)| *index < number * UNIT_WORDS);
        for (index, word) in self.words.get(first..).unwrap_or(&[]) {
            match index
                .checked_sub(number * UNIT_WORDS)
                .map(|at| unit.get_mut(at as usize))
            {
                Some(Some(slot)) => *slot = *word,
                _ => break,
            }
        }
        unit
    }
}

/// The records that the invocations of an entry point may leave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryRecords {
    /// Positions of deferred records, ascending.
    pub deferred: SmallVec<[u32; 8]>,
    /// Whether some are reserved at their sites.
    pub in_place: bool,
    /// Whether an invocation may leave without one.
    pub may_leave_unrecorded: bool,
}

impl EntryRecords {
    /// Adds the records of a function.
    pub fn extend(&mut self, other: &Self) {
        self.deferred.extend_from_slice(&other.deferred);
        self.in_place |= other.in_place;
        self.may_leave_unrecorded |= other.may_leave_unrecorded;
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.deferred.is_empty() && !self.in_place
    }
}
