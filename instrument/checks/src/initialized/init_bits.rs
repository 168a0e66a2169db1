//! Initialisation bits of a variable: one for each part; stores set it, checked loads read it.
//!
//! ```text
//! %stored = Variable %uint 0              beside a variable of Function or Private; an array of words for many parts
//!
//! Store %pointer %value                   %bits = Load %stored
//!                                         %more = BitwiseOr %bits %mask
//!                                         Store %stored %more
//! ```
//!
//! Those of a variable in shared memory are words there, which all invocations set by atomics: a barrier that lets an invocation see what
//! another one has stored lets it see the bit.

use super::layout::{BitPlace, DynamicIndex, Layout};
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{scope, storage_class};
use vkabort_spirv::{Id, op};

/// The initialisation bits of a variable.
#[derive(Clone, Debug)]
pub(super) struct InitBits {
    pub(super) layout: Layout,
    pub(super) variable: Id,
    pub(super) class: u32,
    pub(super) words: u32,
    /// In shared memory, the number of the first word.
    pub(super) base: u32,
}

/// The number of a word.
#[derive(Clone, Copy)]
enum Word {
    At(u32),
    /// That of an id, and a constant to be added.
    From(Id, u32),
}

/// The bits of a load, read when it is executed.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// The words with the bits.
    words: Vec<Id>,
    /// The position of the first bit in the first word.
    first: u32,
    /// Whether the indices are inside; `None` if they always are.
    pub(super) is_inside: Option<Id>,
}

impl Sample {
    /// The word with a bit, counted from the first one, and the mask of the bit in it.
    pub(super) fn word(&self, bit: u32) -> (Id, u32) {
        let at = self.first + bit;
        let word = self.words.get(at as usize / 32).copied().unwrap_or_default();
        (word, 1 << (at % 32))
    }
}

impl InitBits {
    /// The variable with the bits.
    pub(super) fn variable(&self) -> Id {
        self.variable
    }

    /// Whether the bits are those of a variable in shared memory, which all invocations of the workgroup set.
    pub(super) fn is_shared(&self) -> bool {
        self.class == storage_class::Workgroup
    }

    /// The pointer to a word.
    fn pointer(&self, out: &mut Emitter, word: Word) -> Id {
        let uint = out.uint();
        if self.words == 1 && !self.is_shared() {
            return self.variable;
        }
        let number = match word {
            Word::At(number) => out.constant(self.base + number),
            Word::From(number, 0) if self.base == 0 => number,
            Word::From(number, more) => {
                let more = out.constant(self.base + more);
                out.emit(op::IAdd, uint, (number, more))
            }
        };
        let pointer = out.pointer(self.class, uint);
        out.emit(op::AccessChain, pointer, (self.variable, number))
    }

    /// Loads a word.
    fn load(&self, out: &mut Emitter, word: Word) -> Id {
        let pointer = self.pointer(out, word);
        let uint = out.uint();
        match self.is_shared() {
            true => {
                let (workgroup, relaxed) = (out.constant(scope::Workgroup), out.constant(0));
                out.emit(op::AtomicLoad, uint, (pointer, workgroup, relaxed))
            }
            false => out.emit(op::Load, uint, pointer),
        }
    }

    /// Sets bits of a word, which are all that it has if `is_all`.
    fn set(&self, out: &mut Emitter, word: Word, mask: Id, is_all: bool) {
        let pointer = self.pointer(out, word);
        let uint = out.uint();
        if self.is_shared() {
            let (workgroup, relaxed) = (out.constant(scope::Workgroup), out.constant(0));
            out.emit(op::AtomicOr, uint, (pointer, workgroup, relaxed, mask));
            return;
        }
        let bits = match is_all {
            true => mask,
            false => {
                let bits = out.emit(op::Load, uint, pointer);
                out.emit(op::BitwiseOr, uint, (bits, mask))
            }
        };
        out.op(op::Store, (pointer, bits));
    }

    /// Writes before the instruction at `offset` that something has been stored to a place.
    pub(super) fn mark(
        &self,
        index: &Index<'_>,
        out: &mut Emitter,
        edits: &mut Edits,
        offset: usize,
        place: &BitPlace,
    ) {
        match place.dynamic.is_empty() {
            true => self.write_mark(out, place),
            false => self.write_dynamic_mark(index, out, place),
        }
        out.place(|code| edits.insert(offset, code));
    }

    fn write_mark(&self, out: &mut Emitter, place: &BitPlace) {
        let (first, end) = (place.first, place.first + place.bits);
        for word in first / 32..end.div_ceil(32) {
            let from = first.max(word * 32) % 32;
            let count = (end - word * 32).min(32) - from;
            let mask = out.constant(ones(count) << from);
            let is_all = from == 0 && count == (self.layout.whole().bits - word * 32).min(32);
            self.set(out, Word::At(word), mask, is_all);
        }
    }

    fn write_dynamic_mark(&self, index: &Index<'_>, out: &mut Emitter, place: &BitPlace) {
        let (first, _) = write_first(index, out, place);
        let uint = out.uint();
        let (five, thirty_one) = (out.constant(5), out.constant(31));
        let word = out.emit(op::ShiftRightLogical, uint, (first, five));
        if place.bits > 32 {
            for at in 0..place.bits.div_ceil(32) {
                let count = (place.bits - at * 32).min(32);
                let mask = out.constant(ones(count));
                self.set(out, Word::From(word, at), mask, count == 32);
            }
            return;
        }
        let position = out.emit(op::BitwiseAnd, uint, (first, thirty_one));
        let mask = out.constant(ones(place.bits));
        let mask = out.emit(op::ShiftLeftLogical, uint, (mask, position));
        self.set(out, Word::From(word, 0), mask, false);
    }

    /// Writes the bits of a place, as they are when the code is executed.
    pub(super) fn write_sample(&self, index: &Index<'_>, out: &mut Emitter, place: &BitPlace) -> Sample {
        let uint = out.uint();
        if place.dynamic.is_empty() {
            let words = place.first / 32..(place.first + place.bits).div_ceil(32);
            return Sample {
                words: words.map(|word| self.load(out, Word::At(word))).collect(),
                first: place.first % 32,
                is_inside: None,
            };
        }
        let (first, is_inside) = write_first(index, out, place);
        let (five, thirty_one) = (out.constant(5), out.constant(31));
        let word = out.emit(op::ShiftRightLogical, uint, (first, five));
        let mut words: Vec<Id> = (0..place.bits.div_ceil(32))
            .map(|at| self.load(out, Word::From(word, at)))
            .collect();
        if let ([bits], true) = (words.as_mut_slice(), place.bits < 32) {
            let position = out.emit(op::BitwiseAnd, uint, (first, thirty_one));
            *bits = out.emit(op::ShiftRightLogical, uint, (*bits, position));
        }
        Sample {
            words,
            first: 0,
            is_inside,
        }
    }
}

/// The lowest bits.
fn ones(count: u32) -> u32 {
    u32::MAX.checked_shr(32_u32.saturating_sub(count)).unwrap_or(0)
}

/// Writes the number of the first bit of a place, and whether all indices are inside. Those that are not count as the last element,
/// since an index beyond the words would access other memory.
fn write_first(index: &Index<'_>, out: &mut Emitter, place: &BitPlace) -> (Id, Option<Id>) {
    let (uint, bool) = (out.uint(), out.bool());
    let mut first = None;
    let mut is_inside = None;
    for DynamicIndex {
        index: id,
        count,
        stride,
    } in &place.dynamic
    {
        let id = write_uint(index, out, *id);
        let (count, last) = (out.constant(*count), out.constant(count - 1));
        let inside = out.emit(op::ULessThan, bool, (id, count));
        let clamped = out.emit(op::Select, uint, (inside, id, last));
        let bits = match stride {
            1 => clamped,
            _ => {
                let stride = out.constant(*stride);
                out.emit(op::IMul, uint, (clamped, stride))
            }
        };
        first = Some(match first {
            None => bits,
            Some(first) => out.emit(op::IAdd, uint, (first, bits)),
        });
        is_inside = Some(match is_inside {
            None => inside,
            Some(others) => out.emit(op::LogicalAnd, bool, (others, inside)),
        });
    }
    let constant = out.constant(place.first);
    let first = match (first, place.first) {
        (Some(first), 0) => first,
        (Some(first), _) => out.emit(op::IAdd, uint, (first, constant)),
        (None, _) => constant,
    };
    (first, is_inside)
}

/// Writes an index as an unsigned integer of 32 bits. A longer one that is cut short was outside anyway.
fn write_uint(index: &Index<'_>, out: &mut Emitter, id: Id) -> Id {
    let uint = out.uint();
    let ty = index.type_of(id);
    match index.def(ty).map_or(32, |ty| ty.width()) {
        32 if ty == uint => id,
        32 => out.emit(op::Bitcast, uint, id),
        _ if index.def(ty).is_some_and(|ty| ty.is_signed_int()) => {
            let int = out.int();
            let wide = out.emit(op::SConvert, int, id);
            out.emit(op::Bitcast, uint, wide)
        }
        _ => out.emit(op::UConvert, uint, id),
    }
}
