//! The search for the buffer that an address belongs to, in the table of `vkabort_record::buffer_table`.
//!
//! ```text
//! uvec4 vkabort_find_buffer(uvec2 address)
//!     best = ALL
//!     if (CURRENT != 0) {
//!         best = 0, nearest = NEAR, first = 0, left = COUNT, tried = 0
//!         for (;;) {
//!             half = left / 2, halves = half != 0        first the last range that does not begin behind the address ..
//!             if (!halves && (nearest == 0 || tried == TAIL + 2)) break
//!             at = halves ? first + half : tried == 0 ? first : tried == 1 ? first + 1 : COUNT + tried - 2
//!             range = ranges[at]
//!             first = halves && range.start <= address ? at : first
//!             left -= half
//!             distance = halves || at >= COUNT + TAIL ? NEAR : the distance of the address from the range
//!             (best, nearest) = distance < nearest ? (range, distance) : (best, nearest)
//!             tried += halves ? 0 : 1                    .. then this one, the next one, and those of the tail
//!         }
//!     }
//!     return best
//! ```
//!
//! Without a table every address passes. The loop ends: `left` becomes smaller, then `tried` larger, and TAIL is read once. It has little
//! code and one load, since some drivers execute it, without an effect, for invocations that need no search.

use super::state::Runtime;
use vkabort_record::buffer_table::{NEAR, TAIL_OFFSET};
use vkabort_record::layout::UNIT_BYTES;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::memory_operands::VOLATILE;
use vkabort_spirv::{Id, Literal, op};

/// Bytes behind the start of the area that a version may be at: the pointer arithmetic allows for it.
const AREA_BYTES: u64 = 1 << 31;

/// Whether `bytes` bytes from an address are in a range, a vector of its start and its end. Addresses above 2^63 are in none.
///
/// ```text
/// address - start >= 0 && end - address >= bytes          in two words each, with borrows; the high words are signed
/// ```
pub fn write_is_inside(out: &mut Emitter, range: Id, address: Id, bytes: Id) -> Id {
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
pub fn write_difference(out: &mut Emitter, (a_low, a_high): (Id, Id), (b_low, b_high): (Id, Id)) -> (Id, Id) {
    let bool = out.bool();
    let [zero, one] = [0, 1].map(|value| out.constant(value));
    let low = out.calculate(op::ISub, (a_low, b_low));
    let borrows = out.emit(op::ULessThan, bool, (a_low, b_low));
    let borrow = out.calculate(op::Select, (borrows, one, zero));
    let high = out.calculate(op::ISub, (a_high, b_high));
    (low, out.calculate(op::ISub, (high, borrow)))
}

/// The distance of an address from a range: 0 inside, at most `far`, a constant of less than 2^31.
fn write_distance(out: &mut Emitter, range: Id, address: Id, far: Id) -> Id {
    let (bool, zero, one) = (out.bool(), out.constant(0), out.constant(1));
    let mut word = |vector: Id, number: u32| out.calculate(op::CompositeExtract, (vector, Literal(number)));
    let address = (word(address, 0), word(address, 1));
    let (start, end) = ((word(range, 0), word(range, 1)), (word(range, 2), word(range, 3)));
    let before = write_difference(out, start, address);
    let (low, behind_high) = write_difference(out, address, end);
    // The address right behind the range has a distance of 1.
    let behind_low = out.calculate(op::BitwiseOr, (low, one));
    let mut clamp = |(low, high): (Id, Id)| {
        let is_inside = out.emit(op::SLessThan, bool, (high, zero));
        let is_near = out.emit(op::IEqual, bool, (high, zero));
        let is_low = out.emit(op::ULessThan, bool, (low, far));
        let is_short = out.emit(op::LogicalAnd, bool, (is_near, is_low));
        let distance = out.calculate(op::Select, (is_short, low, far));
        out.calculate(op::Select, (is_inside, zero, distance))
    };
    let [before, behind] = [before, (behind_low, behind_high)].map(&mut clamp);
    // One of them is 0.
    out.calculate(op::BitwiseOr, (before, behind))
}

impl Runtime {
    /// Writes the body of the function into `out`, behind its first label `entry`. `all`: its result without a table.
    pub fn write_find_buffer(&mut self, out: &mut Emitter, table: u64, address: Id, (entry, all): (Id, Id)) {
        let (bool, unit) = (out.bool(), self.types(out).unit);
        let zero = out.constant(0);
        let current = self.load_volatile(out, table, zero);
        let is_known = out.emit(op::INotEqual, bool, (current, zero));
        let [search, end, result] = [(); 3].map(|()| out.fresh());
        out.branch_if(is_known, search, end, end);
        out.label(search);
        let (best, searched) = self.write_search(out, (table, current), address, search);
        out.branch(end);
        out.label(end);
        out.phi(unit, result, &[(all, entry), (best, searched)]);
        out.op(op::ReturnValue, result);
    }

    /// Writes the loop behind the block `before`, with the version of the table at the byte offset `current`. Returns the nearest range
    /// and the block behind the loop. The range is a phi of the header: SwiftShader goes on computing other values for invocations that
    /// have left the loop.
    fn write_search(&mut self, out: &mut Emitter, (table, current): (u64, Id), address: Id, before: Id) -> (Id, Id) {
        let (uint, bool, unit) = (out.uint(), out.bool(), self.types(out).unit);
        let (none, bool4) = (out.null(unit), out.vector(bool, 4));
        let [zero, one, two, unit_bytes, far] = [0, 1, 2, UNIT_BYTES, NEAR].map(|value| out.constant(value));
        let count = self.load_volatile(out, table, current);
        let tail_offset = out.constant(TAIL_OFFSET);
        let at_tail = out.calculate(op::IAdd, (current, tail_offset));
        let tail = self.load_volatile(out, table, at_tail);
        let ranges = out.calculate(op::IAdd, (current, unit_bytes));
        let total = out.calculate(op::IAdd, (count, tail));
        let tries = out.calculate(op::IAdd, (tail, two));
        let state = [(uint, zero), (uint, count), (uint, zero), (unit, none), (uint, far)];
        let goes_on = |out: &mut Emitter, [_, left, tried, _, nearest]: [Id; 5]| {
            let half = out.calculate(op::ShiftRightLogical, (left, one));
            let halves = out.emit(op::INotEqual, bool, (half, zero));
            let is_left = out.emit(op::ULessThan, bool, (tried, tries));
            let is_outside = out.emit(op::INotEqual, bool, (nearest, zero));
            let has_next = out.emit(op::LogicalAnd, bool, (is_outside, is_left));
            (out.emit(op::LogicalOr, bool, (halves, has_next)), (half, halves))
        };
        let body = |out: &mut Emitter, [first, left, tried, best, nearest]: [Id; 5], (half, halves): (Id, Id)| {
            let step = out.calculate(op::Select, (halves, half, tried));
            let from_first = out.calculate(op::IAdd, (first, step));
            let behind = out.calculate(op::IAdd, (count, tried));
            let in_tail = out.calculate(op::ISub, (behind, two));
            let is_tail = out.emit(op::UGreaterThan, bool, (tried, one));
            let at = out.calculate(op::Select, (is_tail, in_tail, from_first));
            let range = self.load_range(out, table, ranges, at);
            let is_behind = write_begins_behind(out, range, address);
            let is_low = out.emit(op::LogicalNot, bool, is_behind);
            let moves = out.emit(op::LogicalAnd, bool, (halves, is_low));
            let next_first = out.calculate(op::Select, (moves, at, first));
            let next_left = out.calculate(op::ISub, (left, half));
            let distance = write_distance(out, range, address, far);
            let exists = out.emit(op::ULessThan, bool, (at, total));
            let is_nearer = out.emit(op::ULessThan, bool, (distance, nearest));
            let is_tried = out.emit(op::LogicalNot, bool, halves);
            let may_improve = out.emit(op::LogicalAnd, bool, (is_tried, exists));
            let improves = out.emit(op::LogicalAnd, bool, (may_improve, is_nearer));
            let next_nearest = out.calculate(op::Select, (improves, distance, nearest));
            let mask = out.emit(op::CompositeConstruct, bool4, [improves; 4].as_slice());
            let next_best = out.emit(op::Select, unit, (mask, range, best));
            let counted = out.calculate(op::Select, (halves, zero, one));
            let next_tried = out.calculate(op::IAdd, (tried, counted));
            [next_first, next_left, next_tried, next_best, next_nearest]
        };
        let ([_, _, _, best, _], searched) = out.loop_(before, state, goes_on, body);
        (best, searched)
    }

    /// Loads a word of the table, which the host may change.
    fn load_volatile(&mut self, out: &mut Emitter, table: u64, offset: Id) -> Id {
        let ty = self.types(out).uint_pointer;
        let pointer = self.pointer_behind(out, ty, table, offset, AREA_BYTES);
        let [Literal(bits), alignment] = self.access(4);
        let access = [Literal(bits | VOLATILE), alignment];
        out.calculate(op::Load, (pointer, access.as_slice()))
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
