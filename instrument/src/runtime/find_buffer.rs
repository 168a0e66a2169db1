//! The search for the buffer of an address, in the table of `vkabort_record::buffer_table`.
//!
//! ```text
//! uvec4 vkabort_find_buffer(uvec2 address, uint bytes)
//!     current = CURRENT
//!     if (current != 0) {
//!         first = 0, left = COUNT                                    phase 1: the last range that does not begin behind the address
//!         while (left > 1) { half = left / 2; if (ranges[first + half].start <= address) first += half; left -= half }
//!         found = 0                                                  phase 2: this range, then those of the tail
//!         for (i = 0; i <= TAIL && found has no end; ++i) {
//!             at = i == 0 ? first : COUNT + i - 1
//!             if (at < COUNT + TAIL && ranges[at] has the bytes) found = ranges[at]
//!         }
//!     }
//!     return current != 0 ? found : ALL
//! ```
//!
//! Without a table every address passes. The loops end: `left` becomes smaller, and TAIL is read once.

use super::state::Runtime;
use crate::edit::emitter::Emitter;
use crate::spv::{Id, Literal, op};
use vkabort_record::buffer_table::TAIL_OFFSET;
use vkabort_record::layout::UNIT_BYTES;

/// Bytes behind the start of the area that a version may be at: the pointer arithmetic allows for it.
const AREA_BYTES: u64 = 1 << 31;

/// Whether `bytes` bytes from an address are in a range, a vector of its start and its end. Addresses above 2^63 are in none.
///
/// ```text
/// address - start >= 0 && end - address >= bytes          in two words each, with borrows; the high words are signed
/// ```
pub(crate) fn write_is_inside(out: &mut Emitter, range: Id, address: Id, bytes: Id) -> Id {
    let (bool, zero) = (out.bool(), out.constant(0));
    let mut word = |vector: Id, number: u32| out.calculate(op::CompositeExtract, (vector, Literal(number)));
    let [low, high] = [0, 1].map(|number| word(address, number));
    let [start_low, start_high, end_low, end_high] = [0, 1, 2, 3].map(|number| word(range, number));
    let (_, ahead) = write_difference(out, (low, high), (start_low, start_high));
    let (rest_low, rest) = write_difference(out, (end_low, end_high), (low, high));
    let is_ahead = out.emit(op::SGreaterThanEqual, bool, (ahead, zero));
    let has_more = out.emit(op::SGreaterThan, bool, (rest, zero));
    let is_near = out.emit(op::IEqual, bool, (rest, zero));
    let has_bytes = out.emit(op::UGreaterThanEqual, bool, (rest_low, bytes));
    let has_just = out.emit(op::LogicalAnd, bool, (is_near, has_bytes));
    let has_all = out.emit(op::LogicalOr, bool, (has_more, has_just));
    out.emit(op::LogicalAnd, bool, (is_ahead, has_all))
}

/// The low and the high word of a difference.
fn write_difference(out: &mut Emitter, (a_low, a_high): (Id, Id), (b_low, b_high): (Id, Id)) -> (Id, Id) {
    let bool = out.bool();
    let [zero, one] = [0, 1].map(|value| out.constant(value));
    let low = out.calculate(op::ISub, (a_low, b_low));
    let borrows = out.emit(op::ULessThan, bool, (a_low, b_low));
    let borrow = out.calculate(op::Select, (borrows, one, zero));
    let high = out.calculate(op::ISub, (a_high, b_high));
    (low, out.calculate(op::ISub, (high, borrow)))
}

impl Runtime {
    /// Writes the body of the function into `out`, behind its first label `entry`. `all`: what it returns without a table.
    pub(crate) fn write_find_buffer(
        &mut self,
        out: &mut Emitter,
        table: u64,
        (address, bytes): (Id, Id),
        (entry, all): (Id, Id),
    ) {
        let (uint, bool) = (out.uint(), out.bool());
        let unit = self.types(out).unit;
        let none = out.null(unit);
        let [zero, one, unit_bytes] = [0, 1, UNIT_BYTES].map(|value| out.constant(value));
        let current = self.load_word(out, table, zero);
        let is_known = out.emit(op::INotEqual, bool, (current, zero));
        let [search, halve, half_test, half_body, half_next, halved] = [(); 6].map(|()| out.fresh());
        let [try_next, try_test, try_body, try_load, tried, try_again, searched, end, result] = [(); 9].map(|()| out.fresh());
        let [first, next_first, left, next_left] = [(); 4].map(|()| out.fresh());
        let [i, next_i, found, next_found] = [(); 4].map(|()| out.fresh());
        out.branch_if(is_known, search, end, end);

        out.label(search);
        let count = self.load_word(out, table, current);
        let tail_offset = out.constant(TAIL_OFFSET);
        let at_tail = out.calculate(op::IAdd, (current, tail_offset));
        let tail = self.load_word(out, table, at_tail);
        let ranges = out.calculate(op::IAdd, (current, unit_bytes));
        let total = out.calculate(op::IAdd, (count, tail));
        out.branch(halve);

        // Phase 1.
        out.label(halve);
        out.phi(uint, first, &[(zero, search), (next_first, half_next)]);
        out.phi(uint, left, &[(count, search), (next_left, half_next)]);
        out.op(op::LoopMerge, (halved, half_next, Literal(0)));
        out.branch(half_test);
        out.label(half_test);
        let has_more = out.emit(op::UGreaterThan, bool, (left, one));
        out.op(op::BranchConditional, (has_more, half_body, halved));
        out.label(half_body);
        let half = out.calculate(op::ShiftRightLogical, (left, one));
        let middle = out.calculate(op::IAdd, (first, half));
        let range = self.load_range(out, table, ranges, middle);
        let is_behind = write_begins_behind(out, range, address);
        out.op(op::Select, (uint, next_first, is_behind, first, middle));
        out.op(op::ISub, (uint, next_left, left, half));
        out.branch(half_next);
        out.label(half_next);
        out.branch(halve);
        out.label(halved);
        out.branch(try_next);

        // Phase 2.
        out.label(try_next);
        out.phi(uint, i, &[(zero, halved), (next_i, try_again)]);
        out.phi(unit, found, &[(none, halved), (next_found, try_again)]);
        out.op(op::LoopMerge, (searched, try_again, Literal(0)));
        out.branch(try_test);
        out.label(try_test);
        let is_left = out.emit(op::ULessThanEqual, bool, (i, tail));
        let end_low = out.calculate(op::CompositeExtract, (found, Literal(2)));
        let end_high = out.calculate(op::CompositeExtract, (found, Literal(3)));
        let any = out.calculate(op::BitwiseOr, (end_low, end_high));
        let is_missing = out.emit(op::IEqual, bool, (any, zero));
        let goes_on = out.emit(op::LogicalAnd, bool, (is_left, is_missing));
        out.op(op::BranchConditional, (goes_on, try_body, searched));
        out.label(try_body);
        let is_first = out.emit(op::IEqual, bool, (i, zero));
        let behind = out.calculate(op::IAdd, (count, i));
        let in_tail = out.calculate(op::ISub, (behind, one));
        let at = out.calculate(op::Select, (is_first, first, in_tail));
        let exists = out.emit(op::ULessThan, bool, (at, total));
        out.branch_if(exists, try_load, tried, tried);
        out.label(try_load);
        let range = self.load_range(out, table, ranges, at);
        let is_inside = write_is_inside(out, range, address, bytes);
        let bool4 = out.vector(bool, 4);
        let mask = out.emit(op::CompositeConstruct, bool4, [is_inside; 4].as_slice());
        let chosen = out.emit(op::Select, unit, (mask, range, none));
        out.branch(tried);
        out.label(tried);
        out.phi(unit, next_found, &[(none, try_body), (chosen, try_load)]);
        out.branch(try_again);
        out.label(try_again);
        out.op(op::IAdd, (uint, next_i, i, one));
        out.branch(try_next);

        out.label(searched);
        out.branch(end);
        out.label(end);
        out.phi(unit, result, &[(all, entry), (found, searched)]);
        out.op(op::ReturnValue, result);
    }

    /// Loads a word of the table, which the host may change.
    fn load_word(&mut self, out: &mut Emitter, table: u64, offset: Id) -> Id {
        let ty = self.types(out).uint_pointer;
        let pointer = self.pointer_behind(out, ty, table, offset, AREA_BYTES);
        let [scope, relaxed] = [self.scope, 0].map(|value| out.constant(value));
        out.calculate(op::AtomicLoad, (pointer, scope, relaxed))
    }

    /// Loads range number `at` of the version whose ranges begin at the byte offset `ranges`.
    fn load_range(&mut self, out: &mut Emitter, table: u64, ranges: Id, at: Id) -> Id {
        let types = self.types(out);
        let shift = out.constant(UNIT_BYTES.ilog2());
        let distance = out.calculate(op::ShiftLeftLogical, (at, shift));
        let offset = out.calculate(op::IAdd, (ranges, distance));
        let pointer = self.pointer_behind(out, types.unit_pointer, table, offset, AREA_BYTES);
        let access = self.access(UNIT_BYTES);
        out.emit(op::Load, types.unit, (pointer, access.as_slice()))
    }
}

/// Whether a range begins behind an address.
fn write_begins_behind(out: &mut Emitter, range: Id, address: Id) -> Id {
    let (bool, zero) = (out.bool(), out.constant(0));
    let mut word = |vector: Id, number: u32| out.calculate(op::CompositeExtract, (vector, Literal(number)));
    let start = (word(range, 0), word(range, 1));
    let address = (word(address, 0), word(address, 1));
    let (_, ahead) = write_difference(out, address, start);
    out.emit(op::SLessThan, bool, (ahead, zero))
}
