//! Writes compact records ([`vkabort_record::compact`]), if all records of an entry point are deferred:
//!
//! ```text
//! if (key == NONE) return                                                       phase 1, if there may be no record
//!     slot = reserved, else return                                              phase 2, see `compact_reserve`
//!     store identity, origin, specialization, all values, tag | site            phase 3
//!     trap                                                                      phase 4
//! ```
//!
//! All records of an entry point have the same shape, so that no code depends on the site. The values that a site does not
//! have are undefined; its template does not name them.

use super::compact_shape::CompactShape;
use super::deferred::{DeferredRecord, EntryRecords, RecordWord, record_key};
use super::identity::EntryInterface;
use super::record_writer::Writer;
use super::state::Runtime;
use super::trap::write_trap;
use vkabort_record::compact::{Origin, Tag};
use vkabort_record::layout::{SLOT_UNITS, UNIT_BYTES, UNIT_WORDS};
use vkabort_record::stage::Stage;
use vkabort_record::template::{Template, TemplateWord};
use vkabort_spirv::{Id, Literal, op};

impl Runtime {
    /// The shape of an entry point's compact records, and their TAG without the site. `None`: its records are not compact.
    pub fn compact_shape(
        &self,
        interface: &EntryInterface<'_>,
        of_entry: &EntryRecords,
        deferred: &[DeferredRecord],
    ) -> Option<(CompactShape, u32)> {
        if !self.compact_records || of_entry.in_place || of_entry.deferred.is_empty() {
            return None;
        }
        let records = of_entry.deferred.iter().filter_map(|at| deferred.get(*at as usize));
        let last_site = records.clone().map(|record| record.site).max()?;
        let model = interface.entry.model;
        let has_local_index = interface.has_local_index();
        let shape = CompactShape {
            identity: Stage::identity_of(model).words() + u32::from(has_local_index),
            has_local_index,
            has_specialization: self.key_spec_id.is_some(),
            values: records.map(DeferredRecord::values).max().unwrap_or(0),
        };
        let tag = Tag {
            site: last_site,
            entry_point: interface.number,
            has_specialization: shape.has_specialization,
            has_local_index,
        };
        tag.word()?;
        let fits = shape.units() <= SLOT_UNITS;
        fits.then_some((shape, Tag { site: 0, ..tag }.word()?))
    }
}

impl DeferredRecord {
    /// Number of private variables that hold its values.
    fn values(&self) -> u32 {
        let used = self.words.iter().filter_map(|(_, word)| match word {
            RecordWord::Constant(_) => None,
            RecordWord::Value(slot) => u32::try_from(*slot + 1).ok(),
        });
        used.max().unwrap_or(0)
    }

    /// The template by which the host decodes the record if it is compact.
    pub fn template(&self) -> Template {
        let words = self.words.iter().map(|(index, word)| {
            let word = match word {
                RecordWord::Constant(value) => TemplateWord::Constant(*value),
                RecordWord::Value(slot) => TemplateWord::Value(*slot as u32),
            };
            (*index, word)
        });
        Template {
            size: self.size,
            end: self.payload_units() * UNIT_BYTES,
            words: words.collect(),
            values: self.values(),
        }
    }
}

impl Writer<'_> {
    /// Phases 2 to 4. `tag`: TAG without the site.
    pub(super) fn write_compact(&mut self, shape: CompactShape, records: &[&DeferredRecord], [tag, identity]: [Id; 2]) {
        let uint = self.out.uint();
        // Phase 2.
        let unit = self.reserve_slot(identity);
        // Phase 3.
        let record = self.runtime.record(self.out, unit);
        let site = match records {
            [single] => self.out.constant(single.site),
            _ => {
                let mask = self.out.constant((1 << record_key::SITE_BITS) - 1);
                self.out.calculate(op::BitwiseAnd, (self.key, mask))
            }
        };
        let tag = self.out.calculate(op::BitwiseOr, (tag, site));
        let mut ids =
            (0..shape.identity).map(|index| self.out.emit(op::CompositeExtract, uint, (identity, Literal(index))));
        let first = ids.next();
        let other: Vec<Id> = ids.collect();
        let origin = self.out.constant(Origin::word(self.runtime.code, shape.units()));
        let mut words = vec![first.unwrap_or_else(|| self.out.constant(0)), origin];
        words.extend(other);
        if shape.has_specialization {
            words.push(self.runtime.specialization(self.out));
        }
        for slot in 0..shape.values as usize {
            let variable = self.runtime.value(self.out, slot);
            words.push(self.out.calculate(op::Load, variable));
        }
        self.store_compact(record, words, shape.units(), tag);
        // Phase 4.
        write_trap(self.runtime, self.out, self.block);
    }

    /// Stores the words of a record, and TAG as the last of `units`.
    fn store_compact(&mut self, record: Id, mut words: Vec<Id>, units: u32, tag: Id) {
        let last = units * UNIT_WORDS - 1;
        if self.runtime.scalar_stores {
            for (index, word) in (0..).zip(words) {
                self.runtime.store_word(self.out, record, index, word);
            }
            self.runtime.barrier(self.out);
            return self.runtime.store_word(self.out, record, last, tag);
        }
        // No undefined values: compilers for Intel split the store there, and each store has an address of its own.
        let zero = self.out.constant(0);
        words.resize(last as usize, zero);
        words.push(tag);
        for (number, words) in (0..).zip(words.as_chunks().0) {
            if number > 1 && number + 1 == units {
                self.runtime.barrier(self.out);
            }
            self.runtime.store_words(self.out, record, number, *words);
        }
    }
}
