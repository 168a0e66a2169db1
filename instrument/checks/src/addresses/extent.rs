//! Number of bytes of memory that an access touches.

use vkabort_options::Options;
use vkabort_spirv::index::Index;
use vkabort_spirv::index::constant::Length;
use vkabort_spirv::op::decoration;
use vkabort_spirv::{Id, Inst, op};

/// The bytes from the start of a value of a type with layout to the end of its last part: the member of the largest offset, the last
/// element. A lower bound where members overlap, where a matrix has no stride of its own, and where a pipeline specialises the length
/// of an array. `None` for types without a size.
pub(super) fn extent(index: &Index<'_>, options: &Options, ty: Id) -> Option<u64> {
    let (mut inst, mut bytes) = (index.def(ty)?, 0u64);
    loop {
        let ty = inst.result();
        let (offset, part) = match inst.opcode() {
            op::TypeInt | op::TypeFloat => return bytes.checked_add(u64::from(inst.width().div_ceil(8))),
            op::TypePointer => return bytes.checked_add(8),
            op::TypeVector => {
                let component = index.def(inst.element_type())?;
                let before = u64::from(inst.component_count().checked_sub(1)?);
                (before * u64::from(component.width().div_ceil(8)), inst.element_type())
            }
            op::TypeMatrix => {
                let column = index.def(inst.element_type())?;
                let component = index.def(column.element_type())?;
                let scalars = u64::from(inst.component_count().checked_sub(1)?) * u64::from(column.component_count());
                (scalars * u64::from(component.width().div_ceil(8)), inst.element_type())
            }
            op::TypeArray => {
                let stride = u64::from(index.decoration(ty, decoration::ArrayStride)?);
                let last = match index.length(inst.array_length(), &options.specialization)? {
                    Length::Fixed(length) => length.checked_sub(1)?,
                    Length::Specialised { .. } => 0,
                };
                (stride.checked_mul(last)?, inst.element_type())
            }
            op::TypeStruct => {
                let members = (0..).zip(inst.ids(2));
                let offsets = members.map(|(number, member)| {
                    let offset = index.member_decoration(ty, number, decoration::Offset);
                    offset.map(|offset| (u64::from(offset), member))
                });
                offsets
                    .collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .max_by_key(|(offset, _)| *offset)?
            }
            _ => return None,
        };
        bytes = bytes.checked_add(offset)?;
        // Parts but pointers are declared before the whole; in an invalid module a type may be a part of itself.
        let is_declared = |part: &Inst<'_>| part.offset < inst.offset || part.opcode() == op::TypePointer;
        inst = index.def(part).filter(is_declared)?;
    }
}
