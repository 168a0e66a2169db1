//! Records the accesses of a stretch of code all at once: each has stored its element and description to a private array, and one loop
//! executes the atomics.
//!
//! ```text
//! vkabort_log[2 * n] = element | (scalars - 1) << 20, vkabort_log[2 * n + 1] = description      for each access, n is constant
//! uint vkabort_record_all(uint count)            0, or 1 + the number of the first of them that races
//!     for (n = 0, k = 0; n < count; k < scalars - 1 ? k++ : (n++, k = 0))
//!         old = vkabort_record(element + k, description)
//!         if (old != 0 and vkabort_racing == 0) vkabort_other = old, vkabort_racing = n + 1
//!     return vkabort_racing
//! ```
//!
//! The results are in variables: of values of the loop, SwiftShader and Mesa 22.3 give those of the last iteration to invocations that left
//! earlier. Drivers inline functions, and compilers for CPUs take a time that grows with the square of atomics and branches in a row.

use super::super::workgroup::shared_words::SharedWords;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Code, Id, op};

const SCALARS_SHIFT: u32 = 20;
/// Most words of a shadow.
pub(super) const MAX_WORDS: u32 = (1 << SCALARS_SHIFT) - 1;
/// Most scalars of an entry.
pub(super) const MAX_SCALARS: u32 = 1 << (u32::BITS - SCALARS_SHIFT);

/// The variables and the function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Log {
    entries: Id,
    other: Id,
    record_all: Id,
}

/// The element of an entry, plus the first one.
pub(super) fn element(first: u32, scalars: u32) -> u32 {
    first.saturating_add(scalars.saturating_sub(1) << SCALARS_SHIFT)
}

impl Log {
    /// `record`: the function that records one access. `most`: entries.
    pub(super) fn new(
        (out, shared_words, functions): (&mut Emitter, &mut SharedWords, &mut Code),
        record: Id,
        most: u32,
    ) -> Self {
        let (uint, zero, length) = (out.uint(), out.constant(0), out.constant(most.saturating_mul(2)));
        let array = out.array(uint, length);
        let null = out.value(op::ConstantNull, array, ());
        let entries = out.private(array, null);
        out.name(entries, "vkabort_log");
        let other = out.private(uint, zero);
        out.name(other, "vkabort_other");
        let racing = out.private(uint, zero);
        out.name(racing, "vkabort_racing");
        shared_words.globals.extend([entries, other, racing]);
        let types: (Id, &[Id]) = (uint, &[uint]);
        let record_all = out.function(functions, "vkabort_record_all", types, |out, entry, parameters| {
            let [count] = *parameters else { return None };
            Some(write_loop(out, (entries, record), [other, racing], [entry, count]))
        });
        Self {
            entries,
            other,
            record_all,
        }
    }

    /// Writes that the access of this number has accessed `element`.
    pub(super) fn write_entry(self, out: &mut Emitter, number: u32, element: Id, description: u32) {
        let description = out.constant(description);
        for (at, value) in (2 * number..).zip([element, description]) {
            let at = out.constant(at);
            let pointer = write_word(out, self.entries, at);
            out.op(op::Store, (pointer, value));
        }
    }

    /// Writes the record of the first `count` accesses. Returns 0, or 1 + the number of one that races.
    pub(super) fn write_record(self, out: &mut Emitter, count: u32) -> Id {
        let count = out.constant(count);
        out.calculate(op::FunctionCall, (self.record_all, count))
    }

    /// Writes the word of the access that it races with.
    pub(super) fn write_other(self, out: &mut Emitter) -> Id {
        out.calculate(op::Load, self.other)
    }
}

fn write_word(out: &mut Emitter, entries: Id, at: Id) -> Id {
    let uint = out.uint();
    let pointer = out.pointer(storage_class::Private, uint);
    out.emit(op::AccessChain, pointer, (entries, at))
}

/// Writes the body of `vkabort_record_all`, behind the label `entry`. Returns the result.
///
/// ```text
/// racing = 0
/// for (number = 0, scalar = 0; number < count;) {
///     entry = entries[number], found = record(entry.element + scalar, entry.description)
///     if (found != 0 && racing == 0) other = found, racing = number + 1
///     (number, scalar) = scalar >= entry.last ? (number + 1, 0) : (number, scalar + 1)
/// }
/// ```
fn write_loop(out: &mut Emitter, (entries, record): (Id, Id), [other, racing]: [Id; 2], [entry, count]: [Id; 2]) -> Id {
    let (bool, uint) = (out.bool(), out.uint());
    let [zero, one, shift, elements] = [0, 1, SCALARS_SHIFT, MAX_WORDS].map(|value| out.constant(value));
    out.op(op::Store, (racing, zero));
    let is_left = |out: &mut Emitter, [number, _]: [Id; 2]| (out.emit(op::ULessThan, bool, (number, count)), ());
    out.loop_(entry, [(uint, zero); 2], is_left, |out, [number, scalar], ()| {
        let at = out.calculate(op::IAdd, (number, number));
        let behind = out.calculate(op::IAdd, (at, one));
        let [packed, description] = [at, behind].map(|at| {
            let pointer = write_word(out, entries, at);
            out.calculate(op::Load, pointer)
        });
        let element = out.calculate(op::BitwiseAnd, (packed, elements));
        let element = out.calculate(op::IAdd, (element, scalar));
        let found = out.calculate(op::FunctionCall, (record, element, description));
        let following = out.calculate(op::IAdd, (number, one));
        let is_found = out.emit(op::INotEqual, bool, (found, zero));
        let before = out.emit(op::Load, uint, racing);
        let is_none = out.emit(op::IEqual, bool, (before, zero));
        let is_first = out.emit(op::LogicalAnd, bool, (is_found, is_none));
        out.if_(is_first, |out| {
            out.op(op::Store, (other, found));
            out.op(op::Store, (racing, following));
        });
        let last = out.calculate(op::ShiftRightLogical, (packed, shift));
        let is_last = out.emit(op::UGreaterThanEqual, bool, (scalar, last));
        let following_scalar = out.calculate(op::IAdd, (scalar, one));
        let next_number = out.calculate(op::Select, (is_last, following, number));
        [
            next_number,
            out.calculate(op::Select, (is_last, zero, following_scalar)),
        ]
    });
    out.emit(op::Load, uint, racing)
}
