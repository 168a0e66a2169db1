//! A scalar of shared memory through which one invocation passes a small number to the others.

use vkabort_runtime::uses_vulkan_memory_model;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::memory_operands::{MAKE_POINTER_AVAILABLE, MAKE_POINTER_VISIBLE, NON_PRIVATE_POINTER};
use vkabort_spirv::op::{scope, storage_class};
use vkabort_spirv::{Id, Literal, op};

/// A scalar of shared memory that nothing initialises.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedScalar {
    variable: Id,
    /// Indices that lead to it, all 0.
    steps: usize,
    /// A float, or an integer of 32 bits.
    pub(super) ty: Id,
}

impl SharedScalar {
    /// The first scalar of a variable. `None` if the variable has an initialiser or the scalar another type.
    pub(crate) fn first_of(index: &Index<'_>, variable: Id) -> Option<Self> {
        let inst = index.def(variable).filter(|inst| inst.words.len() == 4)?;
        let (mut ty, mut steps) = (index.def(inst.result_type())?.pointee(), 0);
        loop {
            let inst = index.def(ty)?;
            match inst.opcode() {
                // Without an encoding, which stands for other formats than those of IEEE 754.
                op::TypeFloat if inst.words.len() == 3 => return Some(Self { variable, steps, ty }),
                op::TypeInt if inst.width() == 32 => return Some(Self { variable, steps, ty }),
                _ => (ty, steps) = (index.part_type(ty, 0), steps + 1),
            }
        }
    }

    /// Writes a pointer to it.
    pub(super) fn write_pointer(self, out: &mut Emitter) -> Id {
        if self.steps == 0 {
            return self.variable;
        }
        let (ty, zero) = (out.pointer(storage_class::Workgroup, self.ty), out.constant(0));
        out.emit(op::AccessChain, ty, (self.variable, vec![zero; self.steps].as_slice()))
    }
}

/// Writes the store of a number to a scalar of this type.
pub(super) fn write_store(index: &Index<'_>, out: &mut Emitter, (pointer, ty): (Id, Id), number: Id) {
    let value = match index.opcode(ty) {
        _ if ty == out.uint() => number,
        op::TypeFloat => out.emit(op::ConvertUToF, ty, number),
        _ => out.emit(op::Bitcast, ty, number),
    };
    let operands = memory_operands(index, out, MAKE_POINTER_AVAILABLE);
    out.op(op::Store, (pointer, value, operands.0, operands.1));
}

/// Writes the load of a number from a scalar of this type, behind a barrier.
pub(super) fn write_load(index: &Index<'_>, out: &mut Emitter, (pointer, ty): (Id, Id)) -> Id {
    let operands = memory_operands(index, out, MAKE_POINTER_VISIBLE);
    let value = out.emit(op::Load, ty, (pointer, operands.0, operands.1));
    match index.opcode(ty) {
        _ if ty == out.uint() => value,
        op::TypeFloat => out.calculate(op::ConvertFToU, value),
        _ => out.calculate(op::Bitcast, value),
    }
}

/// Memory operands of an access that a barrier of the workgroup orders.
fn memory_operands(index: &Index<'_>, out: &mut Emitter, bit: u32) -> (Option<Literal>, Option<Id>) {
    let is_needed = uses_vulkan_memory_model(index);
    let bits = is_needed.then_some(Literal(bit | NON_PRIVATE_POINTER));
    (bits, is_needed.then(|| out.constant(scope::Workgroup)))
}
