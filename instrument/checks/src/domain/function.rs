//! Finds the functions whose result may be undefined.

use super::undefined::{Undefined, domain};
use crate::scalars::float_type;
use smallvec::SmallVec;
use vkabort_analysis::float_bounds::Bounds;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op, op_sets};

/// A function whose result may be undefined.
pub(super) struct Function<'w> {
    pub(super) inst: Inst<'w>,
    pub(super) name: &'static str,
    pub(super) undefined: Undefined,
    pub(super) operands: SmallVec<[Id; 3]>,
    /// Width of the numbers of the first operand.
    pub(super) width: u32,
    /// Bounds of the operands, if they are floats.
    pub(super) bounds: SmallVec<[Bounds; 3]>,
}

/// The function that an instruction computes, if its result may be undefined.
pub(super) fn function<'w>(index: &Index<'w>, sets: &[Id], inst: &Inst<'w>) -> Option<Function<'w>> {
    let ((name, undefined), first) = match inst.opcode() {
        op::ExtInst if sets.contains(&inst.ext_inst_set()) => (domain(inst.ext_inst())?, 5),
        op::FMod => (("mod", Undefined::ByZero), 3),
        op::FRem => (("fmod", Undefined::ByZero), 3),
        _ => return None,
    };
    let operands: SmallVec<[Id; 3]> = inst.ids(first).collect();
    let number = number_type(index, index.type_of(*operands.first()?))?;
    let are_constant = operands
        .iter()
        .all(|id| op_sets::is_type_or_constant(index.opcode(*id)));
    let is_known = match undefined {
        Undefined::TooLarge => {
            number.width() == 32 && number_type(index, index.type_of(*operands.get(1)?))?.width() == 32
        }
        Undefined::SwappedSigned | Undefined::SwappedUnsigned => true,
        Undefined::BeyondHalf => number.width() == 32,
        _ => number.opcode() == op::TypeFloat && matches!(number.width(), 16 | 32 | 64),
    };
    (is_known && !are_constant && !index.lacks_arithmetic(&number)).then_some(Function {
        inst: *inst,
        name,
        undefined,
        operands,
        width: number.width(),
        bounds: SmallVec::new(),
    })
}

/// The type of the numbers of a scalar, vector or matrix type.
pub(super) fn number_type<'w>(index: &Index<'w>, ty: Id) -> Option<Inst<'w>> {
    let mut inst = index.def(ty)?;
    while let op::TypeMatrix | op::TypeVector = inst.opcode() {
        inst = index.def(inst.element_type())?;
    }
    match inst.opcode() {
        op::TypeFloat => float_type(index, inst.result()),
        op::TypeInt => Some(inst),
        _ => None,
    }
}
