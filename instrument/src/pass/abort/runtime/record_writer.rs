//! Writes the functions `write_record`: the one place where the invocations of an entry point write their records.
//!
//! ```text
//! void vkabort_write_record(uint stage, uvec4 identity)
//!     if (key == NONE) return                                                   phase 1, if there may be no record
//!     unit = key has IN_PLACE ? key & ~IN_PLACE : reserve(units of key)         phase 2
//!     if (nothing is reserved) return
//!     if deferred: store size and site; payload                                 phase 3
//!     store hash, stage and identity; commit(unit)                              phase 4
//! ```

use super::deferred::{DeferredRecord, EntryRecords, record_key};
use super::open_function::OpenFunction;
use super::record::Extent;
use super::reserve::NO_RECORD;
use super::state::Runtime;
use crate::edit::globals::Globals;
use crate::edit::phi::phi;
use crate::spv::{Code, Id, Operands, op};
use vkabort_record::layout::{HEADER_UNITS, UNIT_BYTES, record_units};

/// The function being written.
pub(super) struct Writer<'a> {
    pub(super) runtime: &'a mut Runtime,
    pub(super) globals: &'a mut Globals,
    pub(super) code: Code,
    /// Merge blocks of the open selections, outermost first.
    pub(super) merges: Vec<Id>,
    pub(super) key: Id,
    /// The open block of phase 2.
    block: Id,
}

impl Runtime {
    /// The function that writes the records `of_entry`, positions in `deferred`.
    pub(crate) fn record_writer(
        &mut self,
        globals: &mut Globals,
        of_entry: &EntryRecords,
        deferred: &[DeferredRecord],
    ) -> Id {
        if let Some((_, function)) = self.record_writers.iter().find(|(records, _)| records == of_entry) {
            return *function;
        }
        let positions = of_entry.deferred.iter();
        let mut records: Vec<&DeferredRecord> = positions.filter_map(|at| deferred.get(*at as usize)).collect();
        records.sort_by_key(|record| u32::MAX - record.payload_units());
        // Only one function can be open.
        let capacity = self.arena.capacity;
        let is_inline = !of_entry.in_place && records.iter().all(|record| record.units() <= capacity);
        let reserve = (!is_inline).then(|| self.reserve(globals));
        let commit = self.commit(globals);
        let (uint, void) = (globals.uint(), globals.void());
        let uvec4 = globals.vector(uint, 4);
        let OpenFunction {
            code,
            function,
            parameters: [stage, identity],
            block,
        } = self.begin_function(globals, "vkabort_write_record", void, [uint, uvec4]);
        self.record_writers.push((of_entry.clone(), function));
        let mut writer = Writer {
            runtime: self,
            globals,
            code,
            merges: Vec::new(),
            key: Id::NONE,
            block,
        };
        writer.write(of_entry, &records, reserve, commit, [stage, identity]);
        let code = writer.code;
        self.end_function(code);
        function
    }
}

impl Writer<'_> {
    fn write(
        &mut self,
        of_entry: &EntryRecords,
        records: &[&DeferredRecord],
        reserve: Option<Id>,
        commit: Id,
        [stage, identity]: [Id; 2],
    ) {
        let void = self.globals.void();
        // Phase 1.
        let may_be_none = of_entry.silent || of_entry.in_place;
        self.key = match records {
            [single] if !may_be_none => self.globals.constant(single.key),
            _ => {
                let key = self.runtime.key(self.globals);
                self.calculate(op::Load, key)
            }
        };
        if may_be_none {
            self.open_if(op::INotEqual, self.key, record_key::NONE);
        }
        // Phase 2.
        let extent = self.extent(records);
        let mut is_in_place = None;
        let unit = match (reserve, records) {
            (_, []) => self.unit_in_place(),
            (None, _) => self.reserve(extent.units),
            (Some(reserve), _) => {
                let [here, there, merge, unit] = [(); 4].map(|()| self.globals.fresh());
                let (bool, in_place) = (self.globals.bool(), self.globals.constant(record_key::IN_PLACE));
                let test = self.emit(op::UGreaterThanEqual, bool, (self.key, in_place));
                is_in_place = Some(test);
                self.code.branch_if(test, there, here, merge);
                self.code.label(there);
                let reserved = self.unit_in_place();
                self.code.branch(merge);
                self.code.label(here);
                let new = self.calculate(op::FunctionCall, (reserve, extent.units));
                self.code.branch(merge);
                self.code.label(merge);
                let uint = self.globals.uint();
                phi(&mut self.code, uint, unit, &[(reserved, there), (new, here)]);
                self.open_if(op::INotEqual, unit, NO_RECORD);
                unit
            }
        };
        // Phase 3.
        let record = self.runtime.record(&mut self.code, self.globals, unit);
        if !records.is_empty() {
            let after = is_in_place.map(|test| {
                let [here, after] = [(); 2].map(|()| self.globals.fresh());
                self.code.branch_if(test, after, here, after);
                self.code.label(here);
                after
            });
            self.runtime.store_extent(&mut self.code, self.globals, record, extent);
            self.write_payload(record, extent.units, records);
            if let Some(after) = after {
                self.code.branch(after);
                self.code.label(after);
            }
        }
        // Phase 4.
        self.runtime
            .store_origin(&mut self.code, self.globals, record, stage, identity);
        self.emit(op::FunctionCall, void, (commit, unit));
        while let Some(merge) = self.merges.pop() {
            self.code.branch(merge);
            self.code.label(merge);
        }
        self.code.op(op::Return, ());
    }

    /// Size, units and site of a deferred record: constants where all records have the same.
    fn extent(&mut self, records: &[&DeferredRecord]) -> Extent {
        let none = Extent {
            units: Id::NONE,
            size: Id::NONE,
            site: Id::NONE,
        };
        let Some(first) = records.first() else { return none };
        let size_of = |record: &&DeferredRecord| record.size;
        let (size, units) = match records.iter().all(|record| size_of(record) == first.size) {
            true => (
                self.globals.constant(first.size),
                self.globals.constant(record_units(first.size)),
            ),
            false => {
                let [bits, round_up, shift, header] =
                    [record_key::SITE_BITS, UNIT_BYTES - 1, UNIT_BYTES.ilog2(), HEADER_UNITS]
                        .map(|value| self.globals.constant(value));
                let size = self.calculate(op::ShiftRightLogical, (self.key, bits));
                let rounded = self.calculate(op::IAdd, (size, round_up));
                let payload = self.calculate(op::ShiftRightLogical, (rounded, shift));
                (size, self.calculate(op::IAdd, (payload, header)))
            }
        };
        let site = match records {
            [single] => self.globals.constant(single.site),
            _ => {
                let mask = self.globals.constant((1 << record_key::SITE_BITS) - 1);
                self.calculate(op::BitwiseAnd, (self.key, mask))
            }
        };
        Extent { units, size, site }
    }

    /// Reserves a record, and opens a selection for it.
    fn reserve(&mut self, units: Id) -> Id {
        let code = &mut self.code;
        let [unit, fits] = self.runtime.try_reserve(code, self.globals, units, None, self.block);
        let [inside, full, merge] = [(); 3].map(|()| self.globals.fresh());
        code.branch_if(fits, inside, full, merge);
        code.label(full);
        self.runtime.count_dropped(code, self.globals);
        code.branch(merge);
        code.label(inside);
        self.merges.push(merge);
        unit
    }

    fn unit_in_place(&mut self) -> Id {
        let mask = self.globals.constant(!record_key::IN_PLACE);
        self.calculate(op::BitwiseAnd, (self.key, mask))
    }

    /// Opens a selection in which `value` compares with the constant `with`.
    pub(super) fn open_if(&mut self, comparison: u16, value: Id, with: u32) {
        let (bool, with) = (self.globals.bool(), self.globals.constant(with));
        let condition = self.emit(comparison, bool, (value, with));
        let [inside, merge] = [(); 2].map(|()| self.globals.fresh());
        self.code.branch_if(condition, inside, merge, merge);
        self.code.label(inside);
        self.merges.push(merge);
        self.block = inside;
    }

    pub(super) fn calculate(&mut self, opcode: u16, operands: impl Operands) -> Id {
        let uint = self.globals.uint();
        self.emit(opcode, uint, operands)
    }

    fn emit(&mut self, opcode: u16, ty: Id, operands: impl Operands) -> Id {
        let result = self.globals.fresh();
        self.code.op(opcode, (ty, result, operands));
        result
    }
}
