//! Follows the value of a message back to the sources of its parts, through composites, copies and constants.
//!
//! Constant bytes are then folded when the module is rewritten, composites need not be built, and large arrays are read
//! from memory in a loop instead of loaded as a whole (Mesa's llvmpipe takes 40 s to compile the load of 64 KiB).

use smallvec::SmallVec;
use vkabort_analysis::deferral::MAX_UNROLLED;
use vkabort_spirv::index::{Block, Index};
use vkabort_spirv::op::memory_operands::{ALIGNED, VOLATILE};
use vkabort_spirv::op::storage_class;
use vkabort_spirv::op_sets::writes_no_memory;
use vkabort_spirv::{Id, Inst, op};

/// Types visited per load, since small types may repeat others very often.
const MAX_TYPES: u32 = 1 << 13;
/// Deepest nesting of types that is followed to find a long array.
const MAX_DEPTH: u32 = 16;

/// Indices to a part, outermost first: numbers for a part of a value, ids of constants for a part of memory.
pub(crate) type Path<T> = SmallVec<[T; 6]>;

/// Source of a part of a message. `ty` is its type there, which logically matches its type in the message type
/// unless the module is invalid.
#[derive(Clone, Debug)]
pub(crate) enum Source<'w> {
    /// Zero in every byte: null, undefined or poison.
    Zero,
    /// Defined by an unknown instruction, or not at all.
    Unknown,
    /// A constituent that does not have the type of its place in its composite.
    OtherType,
    /// A constant scalar, by its bits.
    Literal(u64),
    /// Tightly packed elements of an `OpConstantDataKHR` or `OpSpecConstantDataKHR`.
    Data {
        /// Offset of the instruction.
        offset: usize,
        /// Bytes of an element.
        element_bytes: u32,
    },
    /// The parts of the composite `id` of type `ty`, by their ids.
    Parts { id: Id, ids: &'w [u32], ty: Id },
    /// The result of `OpCompositeExtract` with `path`, or the value itself if `path` is empty.
    Value { id: Id, path: Path<u32>, ty: Id },
    /// The contents of memory at `path`.
    Memory { place: Place, path: Path<Id>, ty: Id },
}

/// Memory that can be indexed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The memory that the load at a word offset reads, unchanged between the load and the abort.
    Load(usize),
    /// A Function variable into which the value was stored.
    Variable(Id),
}

/// Follows values back. Loads in `block`, which the abort ends, may be read in place.
pub(crate) struct Sources<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) block: &'a Block,
}

impl<'w> Sources<'_, 'w> {
    /// The source of a whole value.
    pub(super) fn source_of(&self, id: Id) -> Source<'w> {
        let mut id = id;
        loop {
            let Some(inst) = self.index.def(id) else {
                return Source::Unknown;
            };
            match inst.opcode() {
                // In an invalid module, copies may form a cycle.
                op::CopyObject | op::CopyLogical
                    if self
                        .index
                        .def(inst.first_operand())
                        .is_some_and(|def| def.offset < inst.offset) =>
                {
                    id = inst.first_operand();
                }
                op::ConstantNull | op::Undef | op::PoisonKHR | op::ConstantFalse => return Source::Zero,
                op::ConstantTrue => return Source::Literal(1),
                op::Constant => return Source::Literal(inst.constant_bits()),
                op::ConstantComposite | op::SpecConstantComposite => return parts(&inst),
                op::CompositeConstruct => return self.construct_source(&inst),
                op::ConstantDataKHR | op::SpecConstantDataKHR => {
                    let element = self.index.part_type(inst.result_type(), 0);
                    let bits = self.index.def(element).map_or(8, |t| t.width());
                    return Source::Data {
                        offset: inst.offset,
                        element_bytes: (bits / 8).max(1),
                    };
                }
                op::Load
                    if self.holds_long_array(inst.result_type(), MAX_DEPTH, &mut 0)
                        && self.is_unchanged_since(&inst)
                        // OpAccessChain does not index untyped pointers.
                        && self.index.opcode(self.index.type_of(inst.pointer())) == op::TypePointer =>
                {
                    return Source::Memory {
                        place: Place::Load(inst.offset),
                        path: Path::new(),
                        ty: inst.result_type(),
                    };
                }
                _ => return whole_value(inst.result(), inst.result_type()),
            }
        }
    }

    /// Part `number` of a source.
    pub(super) fn part(&self, source: &Source<'w>, number: u32) -> Source<'w> {
        match source {
            Source::Zero => Source::Zero,
            Source::Unknown => Source::Unknown,
            Source::OtherType => Source::OtherType,
            Source::Literal(bits) if number == 0 => Source::Literal(*bits),
            Source::Literal(_) => Source::Zero,
            Source::Data { offset, element_bytes } => {
                Source::Literal(self.data_element(*offset, *element_bytes, number))
            }
            Source::Parts { ids, ty, .. } => ids.get(number as usize).map_or(Source::Zero, |id| {
                self.constituent(Id::new(*id), self.index.part_type(*ty, number))
            }),
            Source::Value { id, path, ty } => Source::Value {
                id: *id,
                path: extend(path, number),
                ty: self.index.part_type(*ty, number),
            },
            // Indices into memory are ids of constants, which only the writer can declare: it extends the path.
            Source::Memory { .. } => source.clone(),
        }
    }

    /// The source of a constituent of a composite, whose place has the type `ty`.
    fn constituent(&self, id: Id, ty: Id) -> Source<'w> {
        match self.index.def(id) {
            // SPIR-V specification, OpCompositeConstruct and OpConstantComposite: a constituent has the type of its member,
            // component or element.
            Some(inst) if inst.result_type() != ty => Source::OtherType,
            _ => self.source_of(id),
        }
    }

    /// Whether a source is in a variable of the invocation.
    pub(super) fn is_in_variable(&self, source: &Source<'w>) -> bool {
        match source {
            Source::Memory {
                place: Place::Load(offset),
                ..
            } => {
                let pointer_type = self.index.type_of(self.index.inst(*offset).pointer());
                let class = self.index.storage_class(pointer_type);
                matches!(class, Some(storage_class::Function | storage_class::Private))
            }
            Source::Memory {
                place: Place::Variable(_),
                ..
            } => true,
            _ => false,
        }
    }

    /// The source of an `OpCompositeConstruct`. A vector constructed from vectors is followed no further: its operands are
    /// not its components.
    fn construct_source(&self, inst: &Inst<'w>) -> Source<'w> {
        let is_vector = |ty| matches!(self.index.opcode(ty), op::TypeVector | op::TypeVectorIdEXT);
        if is_vector(inst.result_type()) && inst.ids(3).any(|id| is_vector(self.index.type_of(id))) {
            return whole_value(inst.result(), inst.result_type());
        }
        parts(inst)
    }

    /// Bits of element `number` of the constant data at a word offset.
    fn data_element(&self, offset: usize, element_bytes: u32, number: u32) -> u64 {
        let words = self.index.inst(offset).from(3);
        let byte = |i: u32| {
            let at = (number * element_bytes + i) as usize;
            words.get(at / 4).map_or(0, |w| u64::from(w.to_le_bytes()[at % 4]))
        };
        (0..element_bytes.min(8))
            .map(|i| byte(i) << (8 * i))
            .fold(0, |a, b| a | b)
    }

    /// Whether a type holds an array that is written by a loop. Gives up after [`MAX_TYPES`] types: either answer gives a
    /// correct record.
    fn holds_long_array(&self, ty: Id, depth: u32, visited: &mut u32) -> bool {
        *visited += 1;
        let (Some(inst), Some(depth)) = (self.index.def(ty), depth.checked_sub(1)) else {
            return false;
        };
        if *visited > MAX_TYPES {
            return false;
        }
        match inst.opcode() {
            op::TypeArray => {
                let length = self.index.def(inst.array_length());
                let is_short = length.is_some_and(|l| {
                    l.opcode() == op::Constant && self.index.literal(&l).is_some_and(|n| n <= MAX_UNROLLED.into())
                });
                !is_short || self.holds_long_array(inst.element_type(), depth, visited)
            }
            op::TypeStruct => inst.ids(2).any(|member| self.holds_long_array(member, depth, visited)),
            _ => false,
        }
    }

    /// Whether a load is in the abort's block, is not volatile, and nothing between it and the abort can write memory.
    fn is_unchanged_since(&self, load: &Inst<'_>) -> bool {
        load.load_access() & VOLATILE == 0
            && (self.block.offset..self.block.end).contains(&load.offset)
            && self
                .index
                .insts(load.end(), self.block.terminator)
                .all(|i| writes_no_memory(i.opcode()) || self.index.is_debug_inst(&i))
    }
}

fn parts<'w>(composite: &Inst<'w>) -> Source<'w> {
    Source::Parts {
        id: composite.result(),
        ids: composite.from(3),
        ty: composite.result_type(),
    }
}

/// A value of type `ty` as a whole.
pub(super) fn whole_value<'w>(id: Id, ty: Id) -> Source<'w> {
    let path = Path::new();
    Source::Value { id, path, ty }
}

/// A path with one more index.
pub(super) fn extend<T: Copy>(path: &Path<T>, index: T) -> Path<T>
where
    [T; 6]: smallvec::Array<Item = T>,
{
    let mut extended = path.clone();
    extended.push(index);
    extended
}

/// Memory operands for a load of one scalar of `size` bytes in the memory that `load` reads: those of `load`, with an alignment
/// of at most `size`.
pub(super) fn scalar_access(load: &Inst<'_>, size: u32) -> SmallVec<[u32; 4]> {
    let mut operands: SmallVec<[u32; 4]> = SmallVec::from_slice(load.from(4));
    if let [mask, alignment, ..] = operands.as_mut_slice()
        && *mask & ALIGNED != 0
    {
        *alignment = (*alignment).min(size.max(1));
    }
    operands
}
