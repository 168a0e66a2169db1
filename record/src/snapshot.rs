//! An owned copy of an arena, and the bounded walk that reads its records.

use crate::compact::{self, Origin, ShortHash, Tag};
use crate::layout::{
    ABORTED, ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, DROPPED_COUNTERS, DROPPED_OFFSET, DROPPED_STRIDE,
    ENDED_OFFSET, HEADER_UNITS, MAX_VALUE_UNITS, SLOT_BYTES, SLOT_UNITS, UNIT_WORDS, commit_word, header, record_units,
};
use crate::records::{Contents, Record, Records};
use crate::site::{CodeHash, EntryPoint, ModuleHash, SiteId, SiteTable};
use crate::stage::Stage;
use rustc_hash::FxHashMap as HashMap;
use std::sync::Arc;

/// A copy of an arena's bytes. Unlike the arena itself it never changes, so that all readers agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    words: Vec<u32>,
}

/// The site table of code that the process has rewritten.
pub type FindSites<'a> = &'a dyn Fn(ShortHash) -> Option<Arc<SiteTable>>;

/// Most records for which memory is reserved at once.
const RESERVED: u32 = 1 << 16;

impl Snapshot {
    /// A snapshot of these bytes, control block included. An incomplete last word is dropped.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self {
            words: bytes
                .chunks_exact(4)
                .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
        }
    }

    /// A snapshot of these words, control block included.
    pub fn from_words(words: Vec<u32>) -> Self {
        Self { words }
    }

    /// Bytes of an arena that are in use: the control block and the records reserved before `cursor` (in slots), at most
    /// `arena_bytes`.
    pub fn used_bytes(cursor: u32, arena_bytes: usize) -> usize {
        (CONTROL_BYTES as usize)
            .saturating_add((cursor as usize).saturating_mul(SLOT_BYTES as usize))
            .min(arena_bytes)
    }

    /// Reads the records. `capacity` is the length of the arena's record area in units; the snapshot may be shorter.
    ///
    /// No word can lead the walk past the end of the snapshot. CURSOR does not bound it, since it may be lost with the
    /// device. LENGTH or ORIGIN leads past an incomplete record; if it is not written either, the next complete one is searched
    /// for. O(units).
    pub fn records(self, capacity: u32) -> Records {
        self.records_of(capacity, &|_| None)
    }

    /// As [`Self::records`], with the messages of compact records of the code that `find_sites` finds.
    pub fn records_of(self, capacity: u32, find_sites: FindSites<'_>) -> Records {
        let mut modules = Modules {
            find_sites,
            tables: Vec::new(),
            indices: HashMap::default(),
            last: None,
        };
        let cursor = self.control(CURSOR_OFFSET);
        let units = self.words.len().saturating_sub(CONTROL_BYTES as usize / 4) / UNIT_WORDS as usize;
        let end = u32::try_from(units).unwrap_or(u32::MAX).min(capacity);
        let mut records = Records::default();
        let (mut unit, mut last_end) = (0, 0);
        while unit < end {
            let length = self.word(unit, header::LENGTH);
            let (length, is_incomplete) = match Origin::read(length) {
                Some(origin) => (SLOT_UNITS, self.word(unit, origin.tag_word()) == 0),
                None => (length, length >= HEADER_UNITS && self.word(unit, header::COMMIT) == 0),
            };
            let is_unfinished = is_incomplete && length <= end - unit;
            match self.record(unit, end, &mut modules) {
                Some(record) => {
                    if records.records.is_empty() {
                        // In a storm of aborts, most records are of one site.
                        let alike = (end - unit)
                            .checked_div(length.next_multiple_of(SLOT_UNITS))
                            .unwrap_or(1);
                        records.records.reserve(alike.min(RESERVED) as usize);
                    }
                    unit += record.units;
                    last_end = unit;
                    unit = unit.next_multiple_of(SLOT_UNITS);
                    records.records.push(record);
                }
                None if is_unfinished => {
                    records.unfinished += 1;
                    unit = (unit + length).next_multiple_of(SLOT_UNITS);
                }
                None => {
                    // Not reserved, or interrupted before LENGTH, or reserved past the end of a full arena.
                    let mut slots = (unit + SLOT_UNITS..end).step_by(SLOT_UNITS as usize);
                    let next = slots.find(|&u| self.record(u, end, &mut modules).is_some());
                    records.unfinished +=
                        u32::from(next.is_some() || (unit / SLOT_UNITS < cursor && cursor <= capacity / SLOT_UNITS));
                    unit = next.unwrap_or(end);
                }
            }
        }
        records.control_lost =
            cursor < last_end.div_ceil(SLOT_UNITS) || cursor == u32::MAX || self.control(ABORTED_OFFSET) > ABORTED;
        if !records.control_lost {
            let past_capacity = cursor.saturating_sub(capacity / SLOT_UNITS);
            let counters = (0..DROPPED_COUNTERS).map(|at| self.control(DROPPED_OFFSET + at * DROPPED_STRIDE));
            records.ended = self.control(ENDED_OFFSET);
            records.dropped = counters.fold(past_capacity, u32::wrapping_add);
        }
        records.tables = modules.tables;
        let is_compact = |record: &Record| matches!(record.contents, Contents::Compact { .. });
        if records.records.iter().any(is_compact) {
            records.words = self.words;
        }
        records
    }

    /// The complete record that starts at `unit` and ends at or before `end`, if there is one.
    fn record(&self, unit: u32, end: u32, modules: &mut Modules<'_>) -> Option<Record> {
        let word = |index| self.word(unit, index);
        let (length, size) = (word(header::LENGTH), word(header::SIZE));
        if let Some(origin) = Origin::read(length) {
            return self.compact_record(unit, end, origin, modules);
        }
        if word(header::COMMIT) != commit_word(unit) {
            return None;
        }
        let is_complete = length >= HEADER_UNITS
            && length <= end.checked_sub(unit)?
            && length
                .checked_sub(record_units(size))
                .is_some_and(|values| values <= MAX_VALUE_UNITS);
        if !is_complete {
            return None;
        }
        let first = self.index(unit, header::WORDS);
        let words = self
            .words
            .get(first..first + ((length - HEADER_UNITS) * UNIT_WORDS) as usize)?;
        let bytes: Box<[u8]> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Some(Record {
            unit,
            units: length,
            code: ModuleHash(u64::from(word(header::HASH_LO)) | u64::from(word(header::HASH_HI)) << 32).into(),
            site: SiteId(word(header::SITE)),
            execution_model: word(header::STAGE),
            specialization: word(header::SPECIALIZATION),
            identity: [0, 1, 2, 3].map(|at| word(header::IDENTITY + at)),
            contents: Contents::Bytes { bytes, size },
        })
    }

    /// The complete compact record that starts at `unit`, if it ends at or before `end`.
    fn compact_record(&self, unit: u32, end: u32, origin: Origin, modules: &mut Modules<'_>) -> Option<Record> {
        let tag = Tag::read(self.word(unit, origin.tag_word()))?;
        if origin.units > end.checked_sub(unit)? {
            return None;
        }
        let (first, last) = (
            self.index(unit, compact::FIRST_WORD),
            self.index(unit, origin.tag_word()),
        );
        let words = self.words.get(first..last)?;
        let Writer {
            table,
            code,
            execution_model,
            local_size,
        } = modules.find(origin.code, tag.entry_point);
        let ids = Stage::identity_of(execution_model).words() + u32::from(tag.has_local_index);
        let (ids, rest) = words.split_at_checked(ids.saturating_sub(1) as usize)?;
        let (specialization, values) = rest.split_at_checked(tag.has_specialization.into())?;
        let mut identity = [self.word(unit, 0), 0, 0, 0];
        identity.iter_mut().skip(1).zip(ids).for_each(|(word, id)| *word = *id);
        if let Some(size) = local_size
            && let Some(index) = local_index(identity, size)
            && !tag.has_local_index
        {
            identity[3] = index;
        }
        let words = u32::try_from(last - values.len()).ok()?..u32::try_from(last).ok()?;
        Some(Record {
            unit,
            units: origin.units,
            code,
            site: SiteId(tag.site),
            execution_model,
            specialization: specialization.first().copied().unwrap_or(0),
            identity,
            contents: Contents::Compact { words, table },
        })
    }

    fn control(&self, byte_offset: u32) -> u32 {
        self.words.get(byte_offset as usize / 4).copied().unwrap_or(0)
    }

    fn index(&self, unit: u32, word: u32) -> usize {
        CONTROL_BYTES as usize / 4 + unit as usize * UNIT_WORDS as usize + word as usize
    }

    fn word(&self, unit: u32, word: u32) -> u32 {
        self.words.get(self.index(unit, word)).copied().unwrap_or(0)
    }
}

/// Finds what compact records leave out.
struct Modules<'a> {
    find_sites: FindSites<'a>,
    tables: Vec<Arc<SiteTable>>,
    /// Where the table of code is in `tables`, if it has one.
    indices: HashMap<ShortHash, Option<u32>>,
    /// The entry point found last: most consecutive records are of one.
    last: Option<(ShortHash, u32, Writer)>,
}

/// The entry point that wrote a compact record.
#[derive(Clone, Copy)]
struct Writer {
    /// The index of its table.
    table: Option<u32>,
    code: CodeHash,
    /// `u32::MAX` if it is not known.
    execution_model: u32,
    /// Its workgroup size, if that is constant.
    local_size: Option<[u32; 3]>,
}

impl Modules<'_> {
    fn find(&mut self, hash: ShortHash, entry_point: u32) -> Writer {
        if let Some((last, last_entry, writer)) = self.last
            && (last, last_entry) == (hash, entry_point)
        {
            return writer;
        }
        let table = *self.indices.entry(hash).or_insert_with(|| {
            let index = u32::try_from(self.tables.len()).ok();
            self.tables.push((self.find_sites)(hash)?);
            index
        });
        let sites = table.and_then(|table| self.tables.get(table as usize));
        let entry = sites.and_then(|table| table.entry_points.get(entry_point as usize));
        let writer = Writer {
            table,
            code: sites.map_or(hash.alone(), |table| table.code()),
            execution_model: entry.map_or(u32::MAX, |entry| entry.execution_model),
            local_size: entry.and_then(EntryPoint::constant_local_size),
        };
        self.last = Some((hash, entry_point, writer));
        writer
    }
}

/// LocalInvocationIndex of the invocation with this GlobalInvocationId, in workgroups of this size: the global id is the
/// workgroup's, times its size, plus the local one ("Vulkan Specification, Built-In Variables").
pub(crate) fn local_index([x, y, z, _]: [u32; 4], [width, height, depth]: [u32; 3]) -> Option<u32> {
    let [x, y, z] = [x.checked_rem(width)?, y.checked_rem(height)?, z.checked_rem(depth)?];
    x.checked_add(width.checked_mul(y.checked_add(height.checked_mul(z)?)?)?)
}

#[cfg(test)]
#[path = "snapshot_tests.rs"]
mod tests;
