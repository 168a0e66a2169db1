//! Planted functions that compute the bounds of a pointer: the bytes and the array elements of its buffer, and the address of an element.
//!
//! ```text
//! uvec2 vkabort_room(uvec4 range, uvec2 address)        offsets from the address, in bytes: the first, and the one behind the last
//! uvec2 vkabort_elements_S(uvec4 range, uvec2 address, uint bytes)
//!                                                       indices of elements, S bytes apart, the first of them at the address: the
//!                                                       first that has `bytes` bytes in the range, and how many do from there on
//! uvec2 vkabort_element(uvec2 address, uint index, uint stride)
//!                                                       the address of an element; the index has a sign
//! ```
//!
//! The first two are exact: an access is in the range if and only if its offset or index is one of these; but the last index of all, 2^31 - 1,
//! counts as outside where a range has room for all 2^32. They cost about 20 and 50 operations, where the pointer is computed; an
//! access then costs two, whereas the test of an address takes 16.

use rustc_hash::FxHashMap as HashMap;
use vkabort_record::buffer_table::NEAR;
use vkabort_runtime::write_difference;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Code, Id, Literal, op};

/// Strides from here on must be powers of two: others are divisors in divisions of 32 bits.
const STRIDE_LIMIT: u32 = 1 << 16;
/// Powers of two are at most this.
const MAX_STRIDE: u32 = 1 << 30;

/// Functions that compute the bounds of a pointer, each written on first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointerBounds {
    room: Option<Id>,
    /// By the stride.
    elements: HashMap<u32, Id>,
    element: Option<Id>,
}

impl PointerBounds {
    /// The function `vkabort_room`.
    pub(super) fn room(&mut self, out: &mut Emitter, functions: &mut Code) -> Id {
        *self.room.get_or_insert_with(|| write_room(out, functions))
    }

    /// The function `vkabort_elements_S` for a stride that [has one](has_elements).
    pub(super) fn elements(&mut self, out: &mut Emitter, functions: &mut Code, stride: u32) -> Id {
        let found = self.elements.entry(stride);
        *found.or_insert_with(|| write_elements(out, functions, stride))
    }

    /// The function `vkabort_element`.
    pub(super) fn element(&mut self, out: &mut Emitter, functions: &mut Code) -> Id {
        *self.element.get_or_insert_with(|| write_element(out, functions))
    }
}

/// Whether there is a function for elements that are so many bytes apart.
pub(super) const fn has_elements(stride: u32) -> bool {
    stride > 0 && (stride < STRIDE_LIMIT || stride.is_power_of_two() && stride <= MAX_STRIDE)
}

fn write_room(out: &mut Emitter, functions: &mut Code) -> Id {
    let (uint, bool) = (out.uint(), out.bool());
    let [uvec2, uvec4] = [2, 4].map(|count| out.vector(uint, count));
    let [zero, most] = [0, u32::MAX].map(|value| out.constant(value));
    let types: (Id, &[Id]) = (uvec2, &[uvec4, uvec2]);
    out.function(functions, "vkabort_room", types, |out, _, parameters| {
        let [range, address] = *parameters else { return None };
        let [start, end] = write_bounds(out, range);
        let address = write_words(out, address, 0);
        // A range is found for addresses from NEAR bytes before it on, so one word is enough.
        let (ahead, high) = write_difference(out, start, address);
        let is_behind = out.emit(op::SLessThan, bool, (high, zero));
        let first = out.calculate(op::Select, (is_behind, zero, ahead));
        let (rest, high) = write_difference(out, end, address);
        let is_short = out.emit(op::IEqual, bool, (high, zero));
        let is_beyond = out.emit(op::SLessThan, bool, (high, zero));
        let rest = out.calculate(op::Select, (is_short, rest, most));
        let rest = out.calculate(op::Select, (is_beyond, zero, rest));
        Some(out.emit(op::CompositeConstruct, uvec2, (first, rest)))
    })
}

fn write_elements(out: &mut Emitter, functions: &mut Code, stride: u32) -> Id {
    let (uint, bool) = (out.uint(), out.bool());
    let [uvec2, uvec4] = [2, 4].map(|count| out.vector(uint, count));
    let [zero, one, most, half, below_half] =
        [0, 1, u32::MAX - 1, 1 << 31, (1 << 31) - 1].map(|value| out.constant(value));
    // Elements in NEAR bytes: the address may be as far before the range. With them all numbers are positive.
    let before = NEAR.div_ceil(stride);
    let [before_bytes, before] = [before * stride, before].map(|value| out.constant(value));
    let types: (Id, &[Id]) = (uvec2, &[uvec4, uvec2, uint]);
    let name = format!("vkabort_elements_{stride}");
    out.function(functions, &name, types, |out, _, parameters| {
        let [range, address, bytes] = *parameters else {
            return None;
        };
        let [start, end] = write_bounds(out, range);
        let address = write_words(out, address, 0);
        let lead = write_difference(out, address, start);
        let lead = write_sum(out, lead, before_bytes);
        // The first element in the range is at the byte `phase` of it.
        let (behind, phase) = write_quotient(out, lead, stride);
        let behind = write_difference(out, behind, (before, zero));
        let size = write_difference(out, end, start);
        let used = out.calculate(op::IAdd, (phase, bytes));
        let rest = write_difference(out, size, (used, zero));
        let is_none = out.emit(op::SLessThan, bool, (rest.1, zero));
        let (last, _) = write_quotient(out, rest, stride);
        // An index has 32 bits, with a sign.
        let is_high = out.emit(op::SGreaterThan, bool, (behind.1, zero));
        let is_zero = out.emit(op::IEqual, bool, (behind.1, zero));
        let is_large = out.emit(op::UGreaterThan, bool, (behind.0, half));
        let is_over = out.emit(op::LogicalAnd, bool, (is_zero, is_large));
        let is_far = out.emit(op::LogicalOr, bool, (is_high, is_over));
        let over = write_difference(out, behind, (half, zero));
        let [low, high] = [over.0, over.1].map(|word| out.calculate(op::Select, (is_far, word, zero)));
        let last = write_difference(out, last, (low, high));
        let is_before = out.emit(op::SLessThan, bool, (last.1, zero));
        let is_none = out.emit(op::LogicalOr, bool, (is_none, is_before));
        let behind = out.calculate(op::Select, (is_far, half, behind.0));
        let limit = out.calculate(op::IAdd, (behind, below_half));
        let limit = write_minimum(out, limit, most);
        let fits = out.emit(op::IEqual, bool, (last.1, zero));
        let last = out.calculate(op::Select, (fits, last.0, most));
        let last = write_minimum(out, last, limit);
        let count = out.calculate(op::IAdd, (last, one));
        let count = out.calculate(op::Select, (is_none, zero, count));
        let first = out.calculate(op::ISub, (zero, behind));
        Some(out.emit(op::CompositeConstruct, uvec2, (first, count)))
    })
}

fn write_element(out: &mut Emitter, functions: &mut Code) -> Id {
    let uint = out.uint();
    let uvec2 = out.vector(uint, 2);
    let product_type = out.structure(&[uint, uint]);
    let types: (Id, &[Id]) = (uvec2, &[uvec2, uint, uint]);
    out.function(functions, "vkabort_element", types, |out, _, parameters| {
        let [address, index, stride] = *parameters else {
            return None;
        };
        let address = write_words(out, address, 0);
        let product = out.emit(op::SMulExtended, product_type, (index, stride));
        let (low, high) = write_words(out, product, 0);
        let sum = write_sum(out, address, low);
        let high = out.calculate(op::IAdd, (sum.1, high));
        Some(out.emit(op::CompositeConstruct, uvec2, (sum.0, high)))
    })
}

/// Two words of a vector.
fn write_words(out: &mut Emitter, vector: Id, first: u32) -> (Id, Id) {
    let mut word = |number| out.calculate(op::CompositeExtract, (vector, Literal(number)));
    (word(first), word(first + 1))
}

/// The start and the end of a range.
fn write_bounds(out: &mut Emitter, range: Id) -> [(Id, Id); 2] {
    [0, 2].map(|first| write_words(out, range, first))
}

fn write_minimum(out: &mut Emitter, a: Id, b: Id) -> Id {
    let bool = out.bool();
    let is_less = out.emit(op::ULessThan, bool, (a, b));
    out.calculate(op::Select, (is_less, a, b))
}

/// The sum of a number of two words and one of one word.
pub(super) fn write_sum(out: &mut Emitter, (low, high): (Id, Id), added: Id) -> (Id, Id) {
    let (bool, [zero, one]) = (out.bool(), [0, 1].map(|value| out.constant(value)));
    let sum = out.calculate(op::IAdd, (low, added));
    let carries = out.emit(op::ULessThan, bool, (sum, added));
    let carry = out.calculate(op::Select, (carries, one, zero));
    (sum, out.calculate(op::IAdd, (high, carry)))
}

/// A number of two words divided by a stride: the quotient, of two words, and the remainder.
fn write_quotient(out: &mut Emitter, (low, high): (Id, Id), stride: u32) -> ((Id, Id), Id) {
    if stride.is_power_of_two() {
        let mask = out.constant(stride - 1);
        let remainder = out.calculate(op::BitwiseAnd, (low, mask));
        let [shift, rest] = [stride.ilog2(), 32 - stride.ilog2()].map(|value| out.constant(value));
        if stride == 1 {
            return ((low, high), remainder);
        }
        let below = out.calculate(op::ShiftRightLogical, (low, shift));
        let above = out.calculate(op::ShiftLeftLogical, (high, rest));
        let low = out.calculate(op::BitwiseOr, (below, above));
        let high = out.calculate(op::ShiftRightLogical, (high, shift));
        return ((low, high), remainder);
    }
    let [stride, half, mask] = [stride, 16, u32::from(u16::MAX)].map(|value| out.constant(value));
    let divide = |out: &mut Emitter, number: Id| {
        let [quotient, remainder] = [op::UDiv, op::UMod].map(|opcode| out.calculate(opcode, (number, stride)));
        (
            quotient,
            out.calculate(op::ShiftLeftLogical, (remainder, half)),
            remainder,
        )
    };
    // Digit by digit of 16 bits: a remainder and the next one fit into a word.
    let (high, carried, _) = divide(out, high);
    let digit = out.calculate(op::ShiftRightLogical, (low, half));
    let number = out.calculate(op::BitwiseOr, (carried, digit));
    let (upper, carried, _) = divide(out, number);
    let digit = out.calculate(op::BitwiseAnd, (low, mask));
    let number = out.calculate(op::BitwiseOr, (carried, digit));
    let (lower, _, remainder) = divide(out, number);
    let upper = out.calculate(op::ShiftLeftLogical, (upper, half));
    ((out.calculate(op::BitwiseOr, (upper, lower)), high), remainder)
}
