//! Reserves records: in the function `reserve` for messages that are written at their sites, and in `record_writer`.
//!
//! ```text
//! uint vkabort_reserve(uint units)                           -> unit offset of the record, or NO_RECORD
//!     fits = false
//!     if (atomicLoad(cursor) < capacity && units <= capacity) {                            phase 1: test
//!         unit = atomicAdd(cursor, units)                                                  phase 2: reserve
//!         fits = unit <= capacity - units
//!     }
//!     if (fits) return unit
//!     if (units > capacity) aborted = 1                                                    phase 3: too large
//!     atomicAdd(dropped, 1); return NO_RECORD                                              phase 4: count
//! ```
//!
//! The load before the add keeps a storm of aborts off the atomic once the arena is full, and keeps the cursor from
//! wrapping: it passes the capacity by at most one record per invocation in flight. A message whose length is computed
//! and that is too large for the arena reserves nothing, so it displaces no other record. Every invocation adds to
//! exactly one of CURSOR's records and DROPPED, so that the two together are the number of aborts.

use super::arena::{ABORTED, DROPPED};
use super::deferred::record_key;
use super::open_function::OpenFunction;
use super::state::{Runtime, bool_constant};
use crate::edit::globals::Globals;
use crate::edit::phi::phi;
use crate::spv::{Code, Id, op};
use vkabort_record::layout::CURSOR_OFFSET;

/// What `reserve` returns if there is no room.
pub(crate) const NO_RECORD: u32 = u32::MAX;
const _: () = assert!(NO_RECORD == record_key::NONE, "the key of a failed reservation");

impl Runtime {
    /// The function `reserve`.
    pub(crate) fn reserve(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.reserve {
            return function;
        }
        let (uint, bool) = (globals.uint(), globals.bool());
        let OpenFunction {
            mut code,
            function,
            parameters: [units],
            block,
        } = self.begin_function(globals, "vkabort_reserve", uint, [uint]);
        self.reserve = Some(function);
        let [scope, zero, one, capacity, none] =
            [self.scope, 0, 1, self.arena.capacity, NO_RECORD].map(|value| globals.constant(value));
        let [fits_arena, found, full, too_large, counted] = [(); 5].map(|()| globals.fresh());
        // Phases 1 and 2. Compilers remove the comparison for records of constant length.
        code.op(op::ULessThanEqual, (bool, fits_arena, units, capacity));
        let [unit, fits] = self.try_reserve(&mut code, globals, units, Some(fits_arena), block);
        code.branch_if(fits, found, full, full);
        code.label(found);
        code.op(op::ReturnValue, unit);
        // Phase 3: without a message, the device is lost all the same.
        code.label(full);
        code.branch_if(fits_arena, counted, too_large, counted);
        code.label(too_large);
        self.set_aborted(&mut code, globals, [scope, zero, one]);
        code.branch(counted);
        code.label(counted);
        // Phase 4.
        self.count_dropped(&mut code, globals);
        code.op(op::ReturnValue, none);
        self.end_function(code);
        function
    }

    /// Tries to reserve `units` units, unless `condition` is false. Returns the unit offset, and whether they are reserved.
    /// `block` is the open block.
    pub(super) fn try_reserve(
        &mut self,
        code: &mut Code,
        globals: &mut Globals,
        units: Id,
        condition: Option<Id>,
        block: Id,
    ) -> [Id; 2] {
        let (uint, bool) = (globals.uint(), globals.bool());
        let ty = self.types(globals).uint_pointer;
        let [scope, zero, capacity] = [self.scope, 0, self.arena.capacity].map(|value| globals.constant(value));
        let no = bool_constant(globals, false);
        let address = self.arena.control + u64::from(CURSOR_OFFSET);
        let cursor = self.pointer_to(code, globals, ty, address);
        let [now, mut has_room, attempt, added, last, is_low, merge] = [(); 7].map(|()| globals.fresh());
        // Relaxed semantics are 0.
        code.op(op::AtomicLoad, (uint, now, cursor, scope, zero));
        code.op(op::ULessThan, (bool, has_room, now, capacity));
        if let Some(condition) = condition {
            let both = globals.fresh();
            code.op(op::LogicalAnd, (bool, both, has_room, condition));
            has_room = both;
        }
        code.branch_if(has_room, attempt, merge, merge);
        code.label(attempt);
        code.op(op::AtomicIAdd, (uint, added, cursor, scope, zero, units));
        code.op(op::ISub, (uint, last, capacity, units));
        code.op(op::ULessThanEqual, (bool, is_low, added, last));
        code.branch(merge);
        code.label(merge);
        let [unit, fits] = [(); 2].map(|()| globals.fresh());
        phi(code, uint, unit, &[(zero, block), (added, attempt)]);
        phi(code, bool, fits, &[(no, block), (is_low, attempt)]);
        [unit, fits]
    }

    /// Counts an abort without a record.
    pub(super) fn count_dropped(&mut self, code: &mut Code, globals: &mut Globals) {
        let [scope, zero, one] = [self.scope, 0, 1].map(|value| globals.constant(value));
        let dropped = self.control(code, globals, DROPPED);
        let (uint, old) = (globals.uint(), globals.fresh());
        code.op(op::AtomicIAdd, (uint, old, dropped, scope, zero, one));
    }

    /// Sets ABORTED where waiting loops watch it: they end although the record is not complete yet.
    pub(crate) fn announce(&mut self, code: &mut Code, globals: &mut Globals) {
        let [scope, relaxed, one] = [self.scope, 0, 1].map(|value| globals.constant(value));
        let aborted = self.control(code, globals, ABORTED);
        code.op(op::AtomicStore, (aborted, scope, relaxed, one));
    }
}
