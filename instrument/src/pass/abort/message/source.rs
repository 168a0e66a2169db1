//! Where the parts of a message come from.
//!
//! The value that an abort names is followed backwards through composites, copies and constants, so that constant bytes
//! are folded when the module is rewritten, composites are never built, and large arrays are read from memory in a loop
//! rather than loaded whole.

use crate::analysis::index::{Block, Index};
use crate::spv::op::memory_operands::{ALIGNED, VOLATILE};
use crate::spv::{Id, Inst, op};
use smallvec::SmallVec;

/// Types that are looked at for one load.
const MAX_STEPS: u32 = 1 << 13;

/// Where a part of a value or of a place in memory is, from the outside in.
pub(crate) type Path = SmallVec<[u32; 6]>;

/// A part of a message. `ty` is the part's own type, which copies on the way may have made another one than the message
/// type's: the two match logically.
#[derive(Clone, Debug)]
pub(crate) enum Source<'w> {
    /// Zero in every byte: null, undefined and poison.
    Zero,
    /// Made by an instruction that is not known: its type is not either.
    Unknown,
    /// A constant scalar's bits.
    Literal(u64),
    /// Tightly packed elements of an `OpConstantDataKHR` or `OpSpecConstantDataKHR`.
    Data {
        /// Offset of the instruction.
        offset: usize,
        /// Bytes of an element.
        element: u32,
    },
    /// Parts that are at hand one by one.
    Parts(&'w [Id]),
    /// A part of a value: `OpCompositeExtract` with `path`, or the value itself.
    Value { id: Id, path: Path, ty: Id },
    /// A part of what stands in memory.
    Memory { place: Place, path: Path, ty: Id },
}

/// A place in memory that can be indexed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// What the load at an offset would load: nothing has changed it since.
    Load(usize),
    /// A variable of class Function into which a value was stored.
    Variable(Id),
}

/// Follows values back. `block` is the abort's: loads in it may be read in place.
pub(crate) struct Sources<'a, 'w> {
    pub(crate) index: &'a Index<'w>,
    pub(crate) block: &'a Block,
}

impl<'w> Sources<'_, 'w> {
    /// The source of a whole value.
    pub(crate) fn of(&self, id: Id) -> Source<'w> {
        let mut id = id;
        loop {
            let Some(inst) = self.index.def(id) else {
                return Source::Unknown;
            };
            match inst.opcode() {
                // A value is defined before it is used. Where it is not, copies may go round in a circle.
                op::CopyObject | op::CopyLogical if self.is_before(inst.word(3), &inst) => id = inst.word(3),
                op::ConstantNull | op::Undef | op::PoisonKHR | op::ConstantFalse => return Source::Zero,
                op::ConstantTrue => return Source::Literal(1),
                op::Constant => {
                    return Source::Literal(u64::from(inst.word(3)) | u64::from(inst.word(4)) << 32);
                }
                op::ConstantComposite | op::SpecConstantComposite => return Source::Parts(inst.from(3)),
                op::CompositeConstruct => return self.constructed(&inst),
                op::ConstantDataKHR | op::SpecConstantDataKHR => {
                    let element = self.index.part_type(inst.result_type(), 0);
                    let bits = self.index.def(element).map_or(8, |t| t.word(2));
                    return Source::Data {
                        offset: inst.offset,
                        element: (bits / 8).max(1),
                    };
                }
                op::Load
                    if self.holds_long_array(inst.result_type(), 16, &mut 0)
                        && self.unchanged_since(&inst)
                        // An untyped pointer would have to be indexed by another instruction.
                        && self.index.opcode(self.index.type_of(inst.word(3))) == op::TypePointer =>
                {
                    return Source::Memory {
                        place: Place::Load(inst.offset),
                        path: Path::new(),
                        ty: inst.result_type(),
                    };
                }
                _ => {
                    return Source::Value {
                        id,
                        path: Path::new(),
                        ty: inst.result_type(),
                    };
                }
            }
        }
    }

    fn is_before(&self, id: Id, inst: &Inst<'_>) -> bool {
        self.index.def(id).is_some_and(|def| def.offset < inst.offset)
    }

    /// Part `number` of a source.
    pub(crate) fn part(&self, source: &Source<'w>, number: u32) -> Source<'w> {
        match source {
            Source::Zero => Source::Zero,
            Source::Unknown => Source::Unknown,
            Source::Literal(bits) if number == 0 => Source::Literal(*bits),
            Source::Literal(_) => Source::Zero,
            Source::Data { offset, element } => Source::Literal(self.data(*offset, *element, number)),
            Source::Parts(parts) => parts.get(number as usize).map_or(Source::Zero, |id| self.of(*id)),
            Source::Value { id, path, ty } => Source::Value {
                id: *id,
                path: longer(path, number),
                ty: self.index.part_type(*ty, number),
            },
            // Indices in memory are ids; the writer that has constants at hand extends the path.
            Source::Memory { .. } => source.clone(),
        }
    }

    /// A constructed vector may be made of vectors: its parts are then not at hand one by one.
    fn constructed(&self, inst: &Inst<'w>) -> Source<'w> {
        let of_vector = self.index.opcode(inst.result_type()) == op::TypeVector;
        let parts = inst.from(3);
        let nested = |id: &Id| self.index.opcode(self.index.type_of(*id)) == op::TypeVector;
        if of_vector && parts.iter().any(nested) {
            return Source::Value {
                id: inst.result(),
                path: Path::new(),
                ty: inst.result_type(),
            };
        }
        Source::Parts(parts)
    }

    fn data(&self, offset: usize, element: u32, number: u32) -> u64 {
        let words = self.index.inst(offset).from(3);
        let byte = |i: u32| {
            let at = (number * element + i) as usize;
            words.get(at / 4).map_or(0, |w| u64::from(w.to_le_bytes()[at % 4]))
        };
        (0..element.min(8)).map(|i| byte(i) << (8 * i)).fold(0, |a, b| a | b)
    }

    /// Types may hold others many times over, so no more than [`MAX_STEPS`] are looked at: what is read in place without need
    /// or loaded without need is written all the same.
    fn holds_long_array(&self, ty: Id, depth: u32, steps: &mut u32) -> bool {
        *steps += 1;
        let (Some(inst), Some(depth)) = (self.index.def(ty), depth.checked_sub(1)) else {
            return false;
        };
        if *steps > MAX_STEPS {
            return false;
        }
        match inst.opcode() {
            op::TypeArray => {
                let length = self.index.def(inst.word(3));
                let short = length.is_some_and(|l| {
                    l.opcode() == op::Constant
                        && self
                            .index
                            .literal(&l)
                            .is_some_and(|n| n <= super::array::UNROLLED.into())
                });
                !short || self.holds_long_array(inst.word(2), depth, steps)
            }
            op::TypeStruct => inst
                .from(2)
                .iter()
                .any(|member| self.holds_long_array(*member, depth, steps)),
            _ => false,
        }
    }

    /// Whether a load stands in the abort's block, is not volatile, and nothing between it and the abort may write.
    fn unchanged_since(&self, load: &Inst<'_>) -> bool {
        load.word(4) & VOLATILE == 0
            && (self.block.offset..self.block.end).contains(&load.offset)
            && self
                .index
                .insts(load.end(), self.block.terminator)
                .all(|i| self.leaves_memory(&i))
    }

    fn leaves_memory(&self, inst: &Inst<'_>) -> bool {
        let opcode = inst.opcode();
        let pure = matches!(opcode, 1 | 8 | 61 | 65..=68 | 77..=84 | 109..=152 | 154..=191 | 194..=205 | 317 | 400);
        pure || self.index.is_debug_inst(inst)
    }
}

/// A path with one step more.
pub(crate) fn longer(path: &Path, step: u32) -> Path {
    let mut longer = path.clone();
    longer.push(step);
    longer
}

/// Memory operands for reading a scalar of `size` bytes out of what `load` reads: the load's own, its alignment no more
/// than the scalar's.
pub(crate) fn scalar_access(load: &Inst<'_>, size: u32) -> SmallVec<[u32; 4]> {
    let mut operands: SmallVec<[u32; 4]> = SmallVec::from_slice(load.from(4));
    if let [mask, alignment, ..] = operands.as_mut_slice()
        && *mask & ALIGNED != 0
    {
        *alignment = (*alignment).min(size.max(1));
    }
    operands
}
