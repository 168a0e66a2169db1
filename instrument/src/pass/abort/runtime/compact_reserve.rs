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
//! branch (llvmpipe before Mesa 23).

use super::record_writer::Writer;
use crate::spv::{Id, Literal, op};
use vkabort_record::layout::{CONTROL_BYTES, CURSOR_OFFSET, DROPPED_MASK, DROPPED_OFFSET, SLOT_UNITS};

impl Writer<'_> {
    /// Reserves a record of one slot, and opens a selection for it.
    pub(super) fn reserve_slot(&mut self, identity: Id) -> Id {
        let (uint, bool) = (self.out.uint(), self.out.bool());
        let ty = self.runtime.types(self.out).uint_pointer;
        let control = self.runtime.arena.control;
        let slots = self.runtime.slots();
        let [scope, relaxed, one, capacity, mask, dropped, cursor] = [
            self.runtime.scope,
            0,
            1,
            slots,
            DROPPED_MASK,
            DROPPED_OFFSET,
            CURSOR_OFFSET,
        ]
        .map(|value| self.out.constant(value));
        let pointer = self
            .runtime
            .pointer_to(self.out, ty, control + u64::from(CURSOR_OFFSET));
        let now = self.out.emit(op::AtomicLoad, uint, (pointer, scope, relaxed));
        let has_room = self.out.emit(op::ULessThan, bool, (now, capacity));
        // Workgroups that run at the same time differ in the first word.
        let first = self.out.emit(op::CompositeExtract, uint, (identity, Literal(0)));
        let counter = self.out.calculate(op::BitwiseAnd, (first, mask));
        let counter = self.out.calculate(op::IAdd, (counter, dropped));
        let offset = self.out.emit(op::Select, uint, (has_room, cursor, counter));
        let pointer = self
            .runtime
            .pointer_behind(self.out, ty, control, offset, u64::from(CONTROL_BYTES));
        let slot = self.out.calculate(op::AtomicIAdd, (pointer, scope, relaxed, one));
        let is_inside = self.out.emit(op::ULessThan, bool, (slot, capacity));
        let fits = self.out.emit(op::LogicalAnd, bool, (has_room, is_inside));
        self.open(fits);
        let shift = self.out.constant(SLOT_UNITS.ilog2());
        self.out.calculate(op::ShiftLeftLogical, (slot, shift))
    }
}
