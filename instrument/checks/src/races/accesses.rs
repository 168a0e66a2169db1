//! Accesses to the scalars of variables in shared memory.

use super::super::accesses::indices;
use super::super::workgroup::layout::{SharedLayout, array_length};
use super::word::Kind;
use smallvec::{SmallVec, smallvec};
use vkabort_options::Options;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::typed::FunctionIndex;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op, op_sets};

/// An access to a variable in shared memory.
#[derive(Clone, Debug)]
pub(super) struct SharedAccess {
    pub(super) function: FunctionIndex,
    /// Word offset of the instruction.
    pub(super) offset: usize,
    pub(super) kind: Kind,
    pub(super) pointer: Id,
    pub(super) variable: Id,
    /// Scalars that it accesses, from `first` and the steps on.
    pub(super) scalars: u32,
    pub(super) first: u32,
    pub(super) steps: Vec<ScalarStep>,
    /// The value that it stores.
    pub(super) value: Option<Id>,
}

/// An index that is not constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScalarStep {
    index: Id,
    /// It must be below this.
    length: u32,
    /// Scalars of an element.
    stride: u32,
}

/// Memory access of an instruction: kind, pointer and stored value.
pub(super) type MemoryAccess = (Kind, Id, Option<Id>);

/// The memory accesses of an instruction.
pub(super) fn memory_accesses(inst: &Inst<'_>) -> SmallVec<[MemoryAccess; 2]> {
    match inst.opcode() {
        op::Load => smallvec![(Kind::Load, inst.pointer(), None)],
        op::Store => smallvec![(Kind::Store, inst.pointer(), Some(inst.stored_value()))],
        op::CopyMemory => smallvec![(Kind::Load, inst.id(2), None), (Kind::Store, inst.id(1), None)],
        op::AtomicStore => smallvec![(Kind::Atomic, inst.id(1), None)],
        opcode if op_sets::is_atomic_read(opcode) => smallvec![(Kind::Atomic, inst.id(3), None)],
        _ => SmallVec::new(),
    }
}

/// Whether a pointer is into shared memory.
pub(super) fn is_shared(index: &Index<'_>, pointer: Id) -> bool {
    index.storage_class(index.type_of(pointer)) == Some(storage_class::Workgroup)
}

impl SharedAccess {
    /// The access by a pointer into shared memory. `None` if it cannot be followed to the scalars of a variable.
    pub(super) fn new(
        (index, options, layout): (&Index<'_>, &Options, &SharedLayout),
        function: FunctionIndex,
        inst: &Inst<'_>,
        (kind, pointer, value): MemoryAccess,
    ) -> Option<Self> {
        let path = indices(index, pointer).filter(|path| index.opcode(path.base) == op::Variable)?;
        let pointee = index.def(index.type_of(pointer))?.pointee();
        let mut access = Self {
            function,
            offset: inst.offset,
            kind,
            pointer,
            variable: path.base,
            scalars: layout.scalars(pointee).filter(|scalars| *scalars > 0)?,
            first: 0,
            steps: Vec::new(),
            value,
        };
        for step in &path.steps {
            let composite = index.def(step.composite)?;
            let constant = index.def(step.index).filter(|inst| inst.opcode() == op::Constant);
            let number = constant.and_then(|inst| u32::try_from(index.literal(&inst)?).ok());
            if composite.opcode() == op::TypeStruct {
                let members = composite.ids(2).take(number? as usize);
                for member in members {
                    access.first = access.first.checked_add(layout.scalars(member)?)?;
                }
                continue;
            }
            let length = match composite.opcode() {
                op::TypeVector | op::TypeMatrix => composite.component_count(),
                op::TypeArray => array_length(index, options, composite.array_length())?,
                _ => return None,
            };
            let stride = layout.scalars(composite.element_type())?;
            match number {
                Some(number) if number < length => {
                    access.first = access.first.checked_add(number.checked_mul(stride)?)?;
                }
                Some(_) => return None,
                None => {
                    let ty = index.def(index.type_of(step.index))?;
                    if ty.opcode() != op::TypeInt || ty.width() > 32 {
                        return None;
                    }
                    let index = step.index;
                    access.steps.push(ScalarStep { index, length, stride });
                }
            }
        }
        Some(access)
    }

    /// Writes the number of the first scalar that it accesses, plus `base`; `outside` if an index is out of bounds.
    pub(super) fn write_first(&self, out: &mut Emitter, index: &Index<'_>, (base, outside): (u32, u32)) -> Id {
        let (bool, uint) = (out.bool(), out.uint());
        let mut first = out.constant(base.saturating_add(self.first));
        let mut is_inside: Option<Id> = None;
        for step in &self.steps {
            let number = as_word(out, index, step.index);
            let [length, stride] = [step.length, step.stride].map(|value| out.constant(value));
            let is_below = out.emit(op::ULessThan, bool, (number, length));
            let scaled = match step.stride {
                1 => number,
                _ => out.calculate(op::IMul, (number, stride)),
            };
            first = out.calculate(op::IAdd, (first, scaled));
            is_inside = Some(match is_inside {
                Some(before) => out.emit(op::LogicalAnd, bool, (before, is_below)),
                None => is_below,
            });
        }
        let outside = out.constant(outside);
        is_inside.map_or(first, |is_inside| {
            out.emit(op::Select, uint, (is_inside, first, outside))
        })
    }
}

/// Writes an index of up to 32 bits as a word.
fn as_word(out: &mut Emitter, index: &Index<'_>, id: Id) -> Id {
    let uint = out.uint();
    let ty = index.type_of(id);
    let Some(inst) = index.def(ty).filter(|_| ty != uint) else {
        return id;
    };
    let opcode = match (inst.width(), inst.is_signed_int()) {
        (32, _) => op::Bitcast,
        (_, true) => {
            // A conversion extends the sign to another signed type.
            let int = out.int();
            let wide = out.emit(op::SConvert, int, id);
            return out.calculate(op::Bitcast, wide);
        }
        (_, false) => op::UConvert,
    };
    out.calculate(opcode, id)
}
