//! Reserves compact records of one slot by one addition, which also counts an abort without a record:
//!
//! ```text
//! slot = atomicAdd(cursor, 1)
//! if (slot < capacity) { the record }
//! else if (slot >= CURSOR_LIMIT) atomicStore(cursor, CURSOR_LIMIT)
//! ```
//!
//! The cursor never wraps: it exceeds CURSOR_LIMIT by the additions since the last store at most, and each of these is of
//! an invocation that has not executed its store yet, so that it still runs.

use super::record_writer::Writer;
use crate::spv::{Id, op};
use vkabort_record::layout::{CURSOR_LIMIT, CURSOR_OFFSET, SLOT_UNITS};

impl Writer<'_> {
    /// Reserves a record of one slot, and opens a selection for it.
    pub(super) fn reserve_slot(&mut self) -> Id {
        let bool = self.out.bool();
        let ty = self.runtime.types(self.out).uint_pointer;
        let address = self.runtime.arena.control + u64::from(CURSOR_OFFSET);
        let [scope, relaxed, one, capacity, limit] =
            [self.runtime.scope, 0, 1, self.runtime.slots(), CURSOR_LIMIT].map(|value| self.out.constant(value));
        let cursor = self.runtime.pointer_to(self.out, ty, address);
        let slot = self.out.calculate(op::AtomicIAdd, (cursor, scope, relaxed, one));
        let fits = self.out.emit(op::ULessThan, bool, (slot, capacity));
        let [inside, full, passed, end, merge] = [(); 5].map(|()| self.out.fresh());
        self.out.branch_if(fits, inside, full, merge);
        self.out.label(full);
        let is_over = self.out.emit(op::UGreaterThanEqual, bool, (slot, limit));
        self.out.branch_if(is_over, passed, end, end);
        self.out.label(passed);
        self.out.op(op::AtomicStore, (cursor, scope, relaxed, limit));
        self.out.branch(end);
        self.out.label(end);
        self.out.branch(merge);
        self.out.label(inside);
        self.merges.push(merge);
        self.block = inside;
        let shift = self.out.constant(SLOT_UNITS.ilog2());
        self.out.calculate(op::ShiftLeftLogical, (slot, shift))
    }
}
