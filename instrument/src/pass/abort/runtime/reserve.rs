//! Writes the function `reserve`.
//!
//! ```text
//! uint vkabort_reserve(uint units)                           -> unit offset of the record, or NO_RECORD
//!     if (atomicLoad(cursor) < capacity) {                                                 phase 1: test
//!         unit = atomicAdd(cursor, units <= capacity ? units : 0)                          phase 2: reserve
//!         if (units <= capacity && unit <= capacity - units) return unit
//!         if (units > capacity) aborted = 1                                                phase 3: too large
//!     }
//!     atomicAdd(dropped, 1); return NO_RECORD                                              phase 4: count
//! ```
//!
//! The load before the add keeps a storm of aborts off the atomic once the arena is full, and keeps the cursor from
//! wrapping: it passes the capacity by at most one record per invocation in flight. A message whose length is computed
//! and that is too large for the arena reserves nothing, so it displaces no other record. Every invocation adds to
//! exactly one of CURSOR's records and DROPPED, so that the two together are the number of aborts.

use super::deferred::record_key;
use super::open_function::OpenFunction;
use super::state::{ABORTED, DROPPED, Runtime};
use crate::edit::globals::Globals;
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
        let types = self.types(globals);
        let OpenFunction {
            mut code,
            function,
            parameters: [units],
            ..
        } = self.begin_function(globals, "vkabort_reserve", uint, [uint]);
        self.reserve = Some(function);
        let [scope, zero, one, capacity, none] =
            [self.scope, 0, 1, self.arena.capacity, NO_RECORD].map(|value| globals.constant(value));
        let address = self.arena.control + u64::from(CURSOR_OFFSET);
        let cursor = self.pointer_to(&mut code, globals, types.uint_pointer, address);
        let [now, has_room, attempt, count, unit, fits_arena] = [(); 6].map(|()| globals.fresh());
        let [added, is_low, last, fits, found, old] = [(); 6].map(|()| globals.fresh());
        let [full, too_large, counted] = [(); 3].map(|()| globals.fresh());

        // Phase 1: test whether the arena is full already. Relaxed semantics are 0.
        code.op(op::AtomicLoad, (uint, now, cursor, scope, zero));
        code.op(op::ULessThan, (bool, has_room, now, capacity));
        code.branch_if(has_room, attempt, count, count);

        // Phase 2: reserve the units, none for a record larger than the arena.
        code.label(attempt);
        code.op(op::ULessThanEqual, (bool, fits_arena, units, capacity));
        code.op(op::Select, (uint, added, fits_arena, units, zero));
        code.op(op::AtomicIAdd, (uint, unit, cursor, scope, zero, added));
        code.op(op::ISub, (uint, last, capacity, units));
        code.op(op::ULessThanEqual, (bool, is_low, unit, last));
        code.op(op::LogicalAnd, (bool, fits, fits_arena, is_low));
        code.branch_if(fits, found, full, full);
        code.label(found);
        code.op(op::ReturnValue, unit);

        // Phase 3: without a message, the device is lost all the same. Where others have filled the arena, they set ABORTED.
        // Compilers remove this phase for records of constant length.
        code.label(full);
        code.branch_if(fits_arena, counted, too_large, counted);
        code.label(too_large);
        self.set_aborted(&mut code, globals, [scope, zero, one]);
        code.branch(counted);
        code.label(counted);
        code.branch(count);

        // Phase 4: count the abort.
        code.label(count);
        let dropped = self.control(&mut code, globals, DROPPED);
        code.op(op::AtomicIAdd, (uint, old, dropped, scope, zero, one));
        code.op(op::ReturnValue, none);
        self.end_function(code);
        function
    }

    /// Sets ABORTED where waiting loops watch it: they end although the record is not complete yet.
    pub(crate) fn announce(&mut self, code: &mut Code, globals: &mut Globals) {
        let [scope, relaxed, one] = [self.scope, 0, 1].map(|value| globals.constant(value));
        let aborted = self.control(code, globals, ABORTED);
        code.op(op::AtomicStore, (aborted, scope, relaxed, one));
    }
}
