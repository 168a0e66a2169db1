//! Reserves compact records of one slot, or counts an abort without a record, by the same addition:
//!
//! ```text
//! has_room = atomicLoad(cursor) < capacity
//! slot = atomicAdd(has_room ? cursor : dropped[identity], 1)
//! if (has_room && slot < capacity) { the record }
//! ```
//!
//! CURSOR counts the aborts without a record that have seen it below the capacity, DROPPED the others: see `reserve`.
//! A second addition would cost as much as the first where no invocation aborts, on drivers that execute both sides of a
//! branch (lavapipe 22.3, SwiftShader).

use super::record_writer::Writer;
use vkabort_record::layout::{CURSOR_OFFSET, SLOT_UNITS};
use vkabort_spirv::{Id, op};

impl Writer<'_> {
    /// Reserves a record of one slot, and opens a selection for it.
    pub(super) fn reserve_slot(&mut self, identity: Id) -> Id {
        let (uint, bool) = (self.out.uint(), self.out.bool());
        let ty = self.runtime.types(self.out).uint_pointer;
        let address = self.runtime.arena.control + u64::from(CURSOR_OFFSET);
        let [scope, relaxed, one, capacity, cursor, shift] = [
            self.runtime.scope,
            0,
            1,
            self.runtime.slots(),
            CURSOR_OFFSET,
            SLOT_UNITS.ilog2(),
        ]
        .map(|value| self.out.constant(value));
        let pointer = self.runtime.pointer_to(self.out, ty, address);
        let now = self.out.emit(op::AtomicLoad, uint, (pointer, scope, relaxed));
        let has_room = self.out.emit(op::ULessThan, bool, (now, capacity));
        let dropped = self.dropped_counter(identity);
        let offset = self.out.emit(op::Select, uint, (has_room, cursor, dropped));
        let counter = self.runtime.counter(self.out, offset);
        let slot = self.out.calculate(op::AtomicIAdd, (counter, scope, relaxed, one));
        let is_inside = self.out.emit(op::ULessThan, bool, (slot, capacity));
        let fits = self.out.emit(op::LogicalAnd, bool, (has_room, is_inside));
        self.open(fits);
        self.out.calculate(op::ShiftLeftLogical, (slot, shift))
    }
}
