//! Writes the functions `write_record`: the one place where the invocations of an entry point write their records.
//!
//! ```text
//! void vkabort_write_record(uint stage, uvec4 identity)                           compact records: see `compact_record`
//!     if (key == NONE) return                                                   phase 1, if there may be no record
//!     unit = key has IN_PLACE ? key & ~IN_PLACE : reserve(units of key)         phase 2
//!     if (nothing is reserved) return
//!     if deferred: store size and site; payload                                 phase 3
//!     store hash, stage and identity; commit(unit)                              phase 4
//! ```

use super::compact_shape::CompactShape;
use super::deferred::{DeferredRecord, EntryRecords, record_key};
use super::record::Extent;
use super::reserve::NO_RECORD;
use super::state::Runtime;
use vkabort_record::layout::{DROPPED_MASK, DROPPED_OFFSET, HEADER_UNITS, UNIT_BYTES};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, Literal, op};

/// The function being written.
pub(super) struct Writer<'a> {
    pub(super) runtime: &'a mut Runtime,
    pub(super) out: &'a mut Emitter,
    /// Merge blocks of the open selections, outermost first.
    pub(super) merges: Vec<Id>,
    pub(super) key: Id,
    /// The open block of phase 2.
    pub(super) block: Id,
}

impl Runtime {
    /// The function that writes the records `of_entry`, positions in `deferred`. Its first argument is STAGE, or the TAG of
    /// compact records without the site.
    pub fn record_writer(
        &mut self,
        out: &mut Emitter,
        of_entry: &EntryRecords,
        deferred: &[DeferredRecord],
        shape: Option<CompactShape>,
    ) -> Id {
        let mut writers = self.record_writers.iter();
        if let Some((.., function)) = writers.find(|(records, other, _)| records == of_entry && *other == shape) {
            return *function;
        }
        let positions = of_entry.deferred.iter();
        let mut records: Vec<&DeferredRecord> = positions.filter_map(|at| deferred.get(*at as usize)).collect();
        records.sort_by_key(|record| u32::MAX - record.payload_units());
        // Only one function can be open.
        let capacity = self.arena.capacity;
        let is_inline =
            shape.is_some() || !of_entry.in_place && records.iter().all(|record| record.units() <= capacity);
        let reserve = (!is_inline).then(|| self.reserve(out));
        let commit = shape.is_none().then(|| self.commit(out));
        let (uint, void) = (out.uint(), out.void());
        let uvec4 = out.vector(uint, 4);
        let types = (void, [uint, uvec4]);
        let function = self.function(
            out,
            "vkabort_write_record",
            types,
            |runtime, out, block, [stage, identity]| {
                let mut writer = Writer {
                    runtime,
                    out,
                    merges: Vec::new(),
                    key: Id::NONE,
                    block,
                };
                writer.load_key(of_entry, &records);
                match (shape, commit) {
                    (Some(shape), _) => writer.write_compact(shape, &records, [stage, identity]),
                    (None, Some(commit)) => writer.write(&records, reserve, commit, [stage, identity]),
                    (None, None) => {}
                }
                writer.end();
                None
            },
        );
        self.record_writers.push((of_entry.clone(), shape, function));
        function
    }
}

impl Writer<'_> {
    /// Phase 1.
    fn load_key(&mut self, of_entry: &EntryRecords, records: &[&DeferredRecord]) {
        let may_be_none = of_entry.may_leave_unrecorded || of_entry.in_place;
        self.key = match records {
            [single] if !may_be_none => self.out.constant(single.key),
            _ => {
                let key = self.runtime.key(self.out);
                self.out.calculate(op::Load, key)
            }
        };
        if may_be_none {
            self.open_if(op::INotEqual, self.key, record_key::NONE);
        }
    }

    /// Phases 2 to 4.
    fn write(&mut self, records: &[&DeferredRecord], reserve: Option<Id>, commit: Id, [stage, identity]: [Id; 2]) {
        let void = self.out.void();
        // Phase 2.
        let extent = self.extent(records);
        let mut is_in_place = None;
        let unit = match (reserve, records) {
            (_, []) => self.unit_in_place(),
            (None, _) => self.reserve(extent.units, identity),
            (Some(reserve), _) => {
                let [here, there, merge, unit] = [(); 4].map(|()| self.out.fresh());
                let (bool, in_place) = (self.out.bool(), self.out.constant(record_key::IN_PLACE));
                let test = self.out.emit(op::UGreaterThanEqual, bool, (self.key, in_place));
                is_in_place = Some(test);
                self.out.branch_if(test, there, here, merge);
                self.out.label(there);
                let reserved = self.unit_in_place();
                self.out.branch(merge);
                self.out.label(here);
                let new = self.out.calculate(op::FunctionCall, (reserve, extent.units));
                self.out.branch(merge);
                self.out.label(merge);
                let uint = self.out.uint();
                self.out.phi(uint, unit, &[(reserved, there), (new, here)]);
                self.open_if(op::INotEqual, unit, NO_RECORD);
                unit
            }
        };
        // Phase 3.
        let record = self.runtime.record(self.out, unit);
        if !records.is_empty() {
            let after = is_in_place.map(|test| {
                let [here, after] = [(); 2].map(|()| self.out.fresh());
                self.out.branch_if(test, after, here, after);
                self.out.label(here);
                after
            });
            self.runtime.store_extent(self.out, record, extent);
            self.write_payload(record, extent.units, records);
            if let Some(after) = after {
                self.out.branch(after);
                self.out.label(after);
            }
        }
        // Phase 4.
        self.runtime.store_origin(self.out, record, stage, identity);
        self.out.emit(op::FunctionCall, void, (commit, unit));
    }

    /// Closes the open selections, and returns.
    fn end(&mut self) {
        while let Some(merge) = self.merges.pop() {
            self.out.branch(merge);
            self.out.label(merge);
        }
    }

    /// Size, units and site of a deferred record: constants where all records have the same.
    fn extent(&mut self, records: &[&DeferredRecord]) -> Extent {
        let none = Extent {
            units: Id::NONE,
            size: Id::NONE,
            site: Id::NONE,
        };
        let Some(first) = records.first() else { return none };
        let extent_of = |record: &DeferredRecord| (record.size, record.value_units);
        let (size, units) = match records.iter().all(|record| extent_of(record) == extent_of(first)) {
            true => (self.out.constant(first.size), self.out.constant(first.units())),
            false => self.extent_of_key(records.iter().any(|record| record.value_units > 0)),
        };
        let site = match records {
            [single] => self.out.constant(single.site),
            _ => {
                let mask = self.out.constant((1 << record_key::SITE_BITS) - 1);
                self.out.calculate(op::BitwiseAnd, (self.key, mask))
            }
        };
        Extent { units, size, site }
    }

    /// The size and the units in the key. `has_values`: some records have values behind their payload.
    fn extent_of_key(&mut self, has_values: bool) -> (Id, Id) {
        let [bits, round_up, shift, header] = [record_key::SITE_BITS, UNIT_BYTES - 1, UNIT_BYTES.ilog2(), HEADER_UNITS]
            .map(|value| self.out.constant(value));
        let mut size = self.out.calculate(op::ShiftRightLogical, (self.key, bits));
        if has_values {
            let mask = self.out.constant(record_key::MAX_SIZE);
            size = self.out.calculate(op::BitwiseAnd, (size, mask));
        }
        let rounded = self.out.calculate(op::IAdd, (size, round_up));
        let payload = self.out.calculate(op::ShiftRightLogical, (rounded, shift));
        let mut units = self.out.calculate(op::IAdd, (payload, header));
        if has_values {
            let shift = self.out.constant(record_key::VALUES_SHIFT);
            let values = self.out.calculate(op::ShiftRightLogical, (self.key, shift));
            units = self.out.calculate(op::IAdd, (units, values));
        }
        (size, units)
    }

    /// Reserves a record, and opens a selection for it.
    pub(super) fn reserve(&mut self, units: Id, identity: Id) -> Id {
        let [unit, fits, count] = self.runtime.try_reserve(self.out, units, None, self.block);
        let [inside, full, merge] = [(); 3].map(|()| self.out.fresh());
        self.out.branch_if(fits, inside, full, merge);
        self.out.label(full);
        let counter = self.dropped_counter(identity);
        self.runtime.count_dropped(self.out, count, counter);
        self.out.branch(merge);
        self.out.label(inside);
        self.merges.push(merge);
        unit
    }

    /// Byte offset of the counter of DROPPED for an invocation, chosen by its first word of IDENTITY: workgroups that run at the
    /// same time differ there.
    pub(super) fn dropped_counter(&mut self, identity: Id) -> Id {
        let uint = self.out.uint();
        let [mask, start] = [DROPPED_MASK, DROPPED_OFFSET].map(|value| self.out.constant(value));
        let first = self.out.emit(op::CompositeExtract, uint, (identity, Literal(0)));
        let counter = self.out.calculate(op::BitwiseAnd, (first, mask));
        self.out.calculate(op::IAdd, (counter, start))
    }

    fn unit_in_place(&mut self) -> Id {
        let mask = self.out.constant(!record_key::IN_PLACE);
        self.out.calculate(op::BitwiseAnd, (self.key, mask))
    }

    /// Opens a selection in which `value` compares with the constant `with`.
    pub(super) fn open_if(&mut self, comparison: u16, value: Id, with: u32) {
        let (bool, with) = (self.out.bool(), self.out.constant(with));
        let condition = self.out.emit(comparison, bool, (value, with));
        self.open(condition);
    }

    /// Opens a selection.
    pub(super) fn open(&mut self, condition: Id) {
        let [inside, merge] = [(); 2].map(|()| self.out.fresh());
        self.out.branch_if(condition, inside, merge, merge);
        self.out.label(inside);
        self.merges.push(merge);
        self.block = inside;
    }
}
