//! Widths of integers.

use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, op};

/// Width of an integer type or of the components of a vector of integers, if it has at most 64 bits.
pub(super) fn integer_bits(index: &Index<'_>, ty: Id) -> Option<u32> {
    let mut ty = index.def(ty)?;
    if ty.opcode() == op::TypeVector {
        ty = index.def(ty.element_type())?;
    }
    (ty.opcode() == op::TypeInt && (1..=64).contains(&ty.width())).then(|| ty.width())
}
