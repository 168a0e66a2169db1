//! Reserves compact records, whose length is constant, with one atomic addition where that is less code
//! ([`Options::single_addition`](crate::Options::single_addition)):
//!
//! ```text
//! do {
//!     full = atomicLoad(cursor) >= capacity
//!     unit = atomicAdd(full ? dropped : cursor, full ? 1 : units)
//! } while (!full && unit > capacity - units)                 passed the end just now: the second round counts it
//! fits = !full && unit <= capacity - units
//! ```

use super::record_writer::Writer;
use super::state::Runtime;
use crate::edit::emitter::Emitter;
use crate::spv::{Id, Literal, op};
use vkabort_record::layout::{CURSOR_OFFSET, DROPPED_OFFSET};

impl Writer<'_> {
    /// Reserves a record of `units` units, and opens a selection for it.
    pub(super) fn reserve_compact(&mut self, units: u32) -> Id {
        if !self.runtime.single_addition {
            let units = self.out.constant(units);
            return self.reserve(units);
        }
        let [unit, fits] = self.runtime.reserve_in_loop(self.out, units);
        let [inside, merge] = [(); 2].map(|()| self.out.fresh());
        self.out.branch_if(fits, inside, merge, merge);
        self.out.label(inside);
        self.merges.push(merge);
        unit
    }
}

impl Runtime {
    /// Reserves `units` units, or counts an abort without a record. Returns the unit offset, and whether they are reserved.
    fn reserve_in_loop(&mut self, out: &mut Emitter, units: u32) -> [Id; 2] {
        let (uint, bool) = (out.uint(), out.bool());
        let uvec2 = out.vector(uint, 2);
        let ty = self.types(out).uint_pointer;
        let capacity = self.arena.capacity;
        let [scope, relaxed, one] = [self.scope, 0, 1].map(|value| out.constant(value));
        let [limit, last, length] = [capacity, capacity.saturating_sub(units), units].map(|value| out.constant(value));
        let addresses = [CURSOR_OFFSET, DROPPED_OFFSET].map(|offset| self.arena.control + u64::from(offset));
        let [header, body, again, exit] = [(); 4].map(|()| out.fresh());
        out.branch(header);
        out.label(header);
        out.op(op::LoopMerge, (exit, again, Literal(0)));
        out.branch(body);
        out.label(body);
        let cursor = self.pointer_to(out, ty, self.arena.control + u64::from(CURSOR_OFFSET));
        let now = out.calculate(op::AtomicLoad, (cursor, scope, relaxed));
        let is_full = out.emit(op::UGreaterThanEqual, bool, (now, limit));
        let [low, high] = [0, 32].map(|shift| {
            let [cursor, dropped] = addresses.map(|address| out.constant((address >> shift) as u32));
            match cursor == dropped {
                true => cursor,
                false => out.calculate(op::Select, (is_full, dropped, cursor)),
            }
        });
        let address = out.emit(op::CompositeConstruct, uvec2, (low, high));
        let counter = out.emit(op::Bitcast, ty, address);
        let amount = out.calculate(op::Select, (is_full, one, length));
        let unit = out.calculate(op::AtomicIAdd, (counter, scope, relaxed, amount));
        let is_low = out.emit(op::ULessThanEqual, bool, (unit, last));
        let is_done = out.emit(op::LogicalOr, bool, (is_full, is_low));
        out.op(op::BranchConditional, (is_done, exit, again));
        out.label(again);
        out.branch(header);
        out.label(exit);
        let has_room = out.emit(op::LogicalNot, bool, is_full);
        let fits = out.emit(op::LogicalAnd, bool, (has_room, is_low));
        [unit, fits]
    }
}
