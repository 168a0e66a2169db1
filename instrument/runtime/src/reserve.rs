//! Reserves records: in the function `reserve` for messages that are written at their sites, and in `record_writer`.
//!
//! ```text
//! uint vkabort_reserve(uint units)                           -> unit offset of the record, or NO_RECORD
//!     fits = false, count = 1, slots = units of whole slots
//!     if (atomicLoad(cursor) < capacity && units <= capacity) {                            phase 1: test
//!         slot = atomicAdd(cursor, slots)                                                  phase 2: reserve
//!         fits = slot <= capacity - slots
//!         count -= how many of the slots are past the capacity, where the cursor counts aborts
//!     }
//!     if (fits) return slot * SLOT_UNITS
//!     if (units > capacity) aborted = 1                                                    phase 3: too large
//!     atomicAdd(dropped, count); return NO_RECORD                                          phase 4: count
//! ```
//!
//! The load before the addition keeps a storm of aborts off the cursor once the arena is full, where every invocation on every
//! core would wait for the same cache line, and keeps the cursor from wrapping: it passes the capacity by at most one record
//! per invocation in flight. A message whose length is computed and that is too large for the arena reserves nothing, so it
//! displaces no other record. DROPPED and what CURSOR exceeds the capacity by are together the number of aborts without a
//! record, see `compact_reserve`.

use super::deferred::record_key;
use super::state::{Runtime, bool_constant};
use vkabort_record::layout::{CURSOR_OFFSET, DROPPED_OFFSET, SLOT_UNITS};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, op};

/// Result of `reserve` if there is no room.
pub const NO_RECORD: u32 = u32::MAX;
const _: () = assert!(NO_RECORD == record_key::NONE, "the key of a failed reservation");

impl Runtime {
    /// The function `reserve`.
    pub fn reserve(&mut self, out: &mut Emitter) -> Id {
        if let Some(function) = self.reserve {
            return function;
        }
        let (uint, bool) = (out.uint(), out.bool());
        let function = self.function(
            out,
            "vkabort_reserve",
            (uint, [uint]),
            |runtime, out, block, [units]| {
                let [capacity, none] = [runtime.slots() * SLOT_UNITS, NO_RECORD].map(|value| out.constant(value));
                let [fits_arena, found, full, too_large, counted] = [(); 5].map(|()| out.fresh());
                // Phases 1 and 2. Compilers remove the comparison for records of constant length.
                out.op(op::ULessThanEqual, (bool, fits_arena, units, capacity));
                let [unit, fits, count] = runtime.try_reserve(out, units, Some(fits_arena), block);
                out.branch_if(fits, found, full, full);
                out.label(found);
                out.op(op::ReturnValue, unit);
                // Phase 3: without a message, the device is lost all the same.
                out.label(full);
                out.branch_if(fits_arena, counted, too_large, counted);
                out.label(too_large);
                runtime.set_aborted(out);
                runtime.set_aborted_for_host(out);
                out.branch(counted);
                out.label(counted);
                // Phase 4.
                // The invocation is not known here.
                let counter = out.constant(DROPPED_OFFSET);
                runtime.count_dropped(out, count, counter);
                Some(none)
            },
        );
        self.reserve = Some(function);
        function
    }

    /// Slots of the record area.
    pub(super) fn slots(&self) -> u32 {
        self.arena.capacity / SLOT_UNITS
    }

    /// Tries to reserve `units` units, unless `condition` is false. Returns the unit offset, whether they are reserved, and what
    /// to add to DROPPED if not. `block` is the open block.
    pub(super) fn try_reserve(&mut self, out: &mut Emitter, units: Id, condition: Option<Id>, block: Id) -> [Id; 3] {
        let (uint, bool) = (out.uint(), out.bool());
        let ty = self.types(out).uint_pointer;
        let [scope, zero, one, capacity] = [self.scope, 0, 1, self.slots()].map(|value| out.constant(value));
        let [round_up, shift] = [SLOT_UNITS - 1, SLOT_UNITS.ilog2()].map(|value| out.constant(value));
        let no = bool_constant(out, false);
        let address = self.arena.control + u64::from(CURSOR_OFFSET);
        let cursor = self.pointer_to(out, ty, address);
        let rounded = out.calculate(op::IAdd, (units, round_up));
        let slots = out.calculate(op::ShiftRightLogical, (rounded, shift));
        let [now, mut has_room, attempt, added, last, is_low, merge] = [(); 7].map(|()| out.fresh());
        // Relaxed semantics are 0.
        out.op(op::AtomicLoad, (uint, now, cursor, scope, zero));
        out.op(op::ULessThan, (bool, has_room, now, capacity));
        if let Some(condition) = condition {
            let both = out.emit(op::LogicalAnd, bool, (has_room, condition));
            has_room = both;
        }
        out.branch_if(has_room, attempt, merge, merge);
        out.label(attempt);
        out.op(op::AtomicIAdd, (uint, added, cursor, scope, zero, slots));
        out.op(op::ISub, (uint, last, capacity, slots));
        out.op(op::ULessThanEqual, (bool, is_low, added, last));
        let begins_inside = out.emit(op::ULessThan, bool, (added, capacity));
        let behind = out.calculate(op::ISub, (added, last));
        let counted = out.calculate(op::Select, (begins_inside, behind, slots));
        let correction = out.calculate(op::ISub, (one, counted));
        out.branch(merge);
        out.label(merge);
        let [slot, fits, count] = [(); 3].map(|()| out.fresh());
        out.phi(uint, slot, &[(zero, block), (added, attempt)]);
        out.phi(bool, fits, &[(no, block), (is_low, attempt)]);
        out.phi(uint, count, &[(one, block), (correction, attempt)]);
        [out.calculate(op::ShiftLeftLogical, (slot, shift)), fits, count]
    }
}
