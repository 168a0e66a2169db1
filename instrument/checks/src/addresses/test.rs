//! Writes the test of an access: as much as possible where its pointer is computed.

use super::super::module::ModulePlanter;
use super::super::planter::Planter;
use super::base::Base;
use super::buffer_finder::write_address;
use super::offset::{MAX_BYTES, Offset};
use super::physical::{Physical, RequiredTests};
use super::pointer_bounds::{has_elements, write_sum};
use rustc_hash::FxHashMap as HashMap;
use vkabort_runtime::{bool_constant, write_is_inside};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::{Id, Literal, op};

/// A test, of which the part that one pointer decides is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// By a Boolean: whether the access is wrong. `words`: the address of the pointer that its chains begin with.
    Decided { is_wrong: Id, words: [Id; 2] },
    /// By an index, which must be one of `count` from `first` on.
    Index {
        index: Id,
        first: Id,
        count: Id,
        words: [Id; 2],
        /// The function `vkabort_element`.
        element: Id,
        /// Whether the index has another type than `uint`.
        is_signed: bool,
    },
    /// By an address, which must be in a range of addresses, or may be anywhere.
    Address { range: Option<Id> },
}

/// Tests of the accesses of a function.
#[derive(Default)]
pub(super) struct Tests {
    /// Accesses that one room would serve, or the elements of one range, by the pointer; the latter by offset, stride and bytes.
    shared: HashMap<(Id, [u32; 3]), u32>,
    /// The address of the pointer of a range, as a vector and its words, by the range.
    addresses: HashMap<Id, (Id, [Id; 2])>,
    /// The room of a range, by the range.
    rooms: HashMap<Id, Id>,
    /// The elements of a range, by the range, the offset of the first one, stride, bytes and alignment.
    elements: HashMap<(Id, [u32; 4]), (Id, Id)>,
}

impl Tests {
    /// Counts an access, before any test is written.
    pub(super) fn count(&mut self, physical: &Physical<'_>) {
        if let Some(key) = shared_by(physical) {
            *self.shared.entry(key).or_default() += 1;
        }
    }

    /// The test of an access through a pointer whose buffer is known.
    pub(super) fn of(
        &mut self,
        planter: &mut Planter<'_, '_, '_>,
        physical: &Physical<'_>,
        required: RequiredTests,
        base: &Base,
    ) -> Test {
        let count = shared_by(physical).and_then(|key| self.shared.get(&key)).copied();
        let pays = |least| base.is_outside_loop || count.is_some_and(|count| count >= least);
        let alignment = if required.alignment { physical.alignment } else { 1 };
        match physical.offset {
            _ if physical.bytes > MAX_BYTES => Test::Address {
                range: Some(base.range),
            },
            Offset::Fixed(offset) if pays(2) => {
                let room = self.room(planter, base);
                let (_, words) = self.address(planter, base);
                let is_wrong = planter.insert(base.at, |out| {
                    write_is_wrong(out, words, room, (offset, physical.bytes, alignment))
                });
                Test::Decided { is_wrong, words }
            }
            Offset::Element { bytes, index, stride }
                if pays(4) && has_elements(stride) && stride.is_multiple_of(alignment) =>
            {
                let (first, count) = self.elements(planter, base, [bytes, stride, physical.bytes, alignment]);
                let (_, words) = self.address(planter, base);
                let ModulePlanter {
                    out, guards, states, ..
                } = &mut *planter.module;
                Test::Index {
                    index,
                    first,
                    count,
                    words,
                    element: states.addresses.bounds.element(out, guards),
                    is_signed: planter.index.type_of(index) != out.uint(),
                }
            }
            _ => Test::Address {
                range: Some(base.range),
            },
        }
    }

    fn address(&mut self, planter: &mut Planter<'_, '_, '_>, base: &Base) -> (Id, [Id; 2]) {
        let written = self.addresses.entry(base.range);
        *written.or_insert_with(|| planter.insert(base.at, |out| write_address(out, base.pointer)))
    }

    fn room(&mut self, planter: &mut Planter<'_, '_, '_>, base: &Base) -> Id {
        let (address, _) = self.address(planter, base);
        *self.rooms.entry(base.range).or_insert_with(|| {
            let ModulePlanter {
                out, guards, states, ..
            } = &mut *planter.module;
            let function = states.addresses.bounds.room(out, guards);
            planter.insert(base.at, |out| {
                let uint = out.uint();
                let room = out.vector(uint, 2);
                out.emit(op::FunctionCall, room, (function, base.range, address))
            })
        })
    }

    fn elements(&mut self, planter: &mut Planter<'_, '_, '_>, base: &Base, key: [u32; 4]) -> (Id, Id) {
        let [offset, stride, bytes, alignment] = key;
        let (_, words) = self.address(planter, base);
        *self.elements.entry((base.range, key)).or_insert_with(|| {
            let ModulePlanter {
                out, guards, states, ..
            } = &mut *planter.module;
            let function = states.addresses.bounds.elements(out, guards, stride);
            planter.insert(base.at, |out| {
                let uint = out.uint();
                let pair = out.vector(uint, 2);
                let (low, high) = write_behind(out, words, offset);
                let address = out.emit(op::CompositeConstruct, pair, (low, high));
                let bytes = out.constant(bytes);
                let elements = out.emit(op::FunctionCall, pair, (function, base.range, address, bytes));
                let [first, mut count] =
                    [0, 1].map(|word| out.calculate(op::CompositeExtract, (elements, Literal(word))));
                // The elements are as misaligned as the first one.
                if alignment > 1 {
                    let zero = out.constant(0);
                    let is_misaligned = write_is_misaligned(out, low, alignment);
                    count = out.calculate(op::Select, (is_misaligned, zero, count));
                }
                (first, count)
            })
        })
    }
}

/// Key of the accesses that share a part of a test.
fn shared_by(physical: &Physical<'_>) -> Option<(Id, [u32; 3])> {
    let key = match physical.offset {
        Offset::Fixed(_) => [0; 3],
        Offset::Element { bytes, stride, .. } => [bytes, stride, physical.bytes],
        Offset::Computed | Offset::Apart => return None,
    };
    Some((physical.base, key))
}

impl Test {
    /// Writes whether an access is wrong, in front of it.
    pub(super) fn write(self, out: &mut Emitter, physical: &Physical<'_>, required: RequiredTests) -> Id {
        let bool = out.bool();
        match self {
            Self::Decided { is_wrong, .. } => is_wrong,
            Self::Index {
                index, first, count, ..
            } => {
                let number = out.calculate(op::ISub, (index, first));
                out.emit(op::UGreaterThanEqual, bool, (number, count))
            }
            Self::Address { range } => {
                let (address, [low, _]) = write_address(out, physical.pointer);
                let is_misaligned = required
                    .alignment
                    .then(|| write_is_misaligned(out, low, physical.alignment));
                let is_outside = range.map(|range| {
                    let bytes = out.constant(physical.bytes);
                    let is_inside = write_is_inside(out, range, address, bytes);
                    out.emit(op::LogicalNot, bool, is_inside)
                });
                match (is_misaligned, is_outside) {
                    (Some(a), Some(b)) => out.emit(op::LogicalOr, bool, (a, b)),
                    (a, b) => a.or(b).unwrap_or_else(|| bool_constant(out, false)),
                }
            }
        }
    }
}

impl Test {
    /// Writes the words of the address that is accessed. From those of the pointer that its chains begin with: SwiftShader, which executes
    /// this even where no invocation fails, takes several times as long for the words of another pointer.
    pub(super) fn write_words(self, out: &mut Emitter, physical: &Physical<'_>) -> [Id; 2] {
        match (self, physical.offset) {
            (Self::Decided { words, .. }, Offset::Fixed(offset)) => write_behind(out, words, offset).into(),
            (
                Self::Index {
                    index,
                    words,
                    element,
                    is_signed,
                    ..
                },
                Offset::Element { bytes, stride, .. },
            ) => {
                let uint = out.uint();
                let pair = out.vector(uint, 2);
                let first = write_behind(out, words, bytes);
                let first = out.emit(op::CompositeConstruct, pair, first);
                let index = match is_signed {
                    true => out.calculate(op::Bitcast, index),
                    false => index,
                };
                let stride = out.constant(stride);
                let address = out.emit(op::FunctionCall, pair, (element, first, index, stride));
                [0, 1].map(|word| out.calculate(op::CompositeExtract, (address, Literal(word))))
            }
            _ => write_address(out, physical.pointer).1,
        }
    }
}

/// Whether an address with this low word is not a multiple of `alignment`, a power of two.
pub(super) fn write_is_misaligned(out: &mut Emitter, low: Id, alignment: u32) -> Id {
    let (bool, mask, zero) = (out.bool(), out.constant(alignment - 1), out.constant(0));
    let rest = out.calculate(op::BitwiseAnd, (low, mask));
    out.emit(op::INotEqual, bool, (rest, zero))
}

/// The words of the address that is so many bytes behind another one.
fn write_behind(out: &mut Emitter, [low, high]: [Id; 2], offset: u32) -> (Id, Id) {
    match offset {
        0 => (low, high),
        _ => {
            let offset = out.constant(offset);
            write_sum(out, (low, high), offset)
        }
    }
}

/// Whether an access at an offset from an address is wrong.
fn write_is_wrong(out: &mut Emitter, words: [Id; 2], room: Id, (offset, bytes, alignment): (u32, u32, u32)) -> Id {
    let bool = out.bool();
    let [first, end] = [0, 1].map(|word| out.calculate(op::CompositeExtract, (room, Literal(word))));
    let [start, behind] = [offset, offset + bytes].map(|value| out.constant(value));
    let is_before = out.emit(op::ULessThan, bool, (start, first));
    let is_beyond = out.emit(op::ULessThan, bool, (end, behind));
    let mut is_wrong = out.emit(op::LogicalOr, bool, (is_before, is_beyond));
    if alignment > 1 {
        let (low, _) = write_behind(out, words, offset % alignment);
        let is_misaligned = write_is_misaligned(out, low, alignment);
        is_wrong = out.emit(op::LogicalOr, bool, (is_wrong, is_misaligned));
    }
    is_wrong
}
