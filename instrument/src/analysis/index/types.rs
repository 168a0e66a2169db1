//! Questions about types.

use super::Index;
use crate::spv::op::storage_class;
use crate::spv::{Id, op};

impl Index<'_> {
    /// Opcode of the instruction that defines `id`, 0 if none does.
    pub(crate) fn opcode(&self, id: Id) -> u16 {
        self.def(id).map_or(0, |i| i.opcode())
    }

    /// Type of a value.
    pub(crate) fn type_of(&self, value: Id) -> Id {
        self.def(value).map_or(0, |i| i.result_type())
    }

    /// Whether values of a type are pointers into anything but physical storage buffers: they cannot be stored,
    /// returned or selected without variable pointers.
    pub(crate) fn is_logical_pointer(&self, ty: Id) -> bool {
        self.storage_class(ty)
            .is_some_and(|class| class != storage_class::PhysicalStorageBuffer)
    }

    /// Whether values of a type are handles to images, samplers and the like, which must be made in the block that
    /// uses them.
    pub(crate) fn is_opaque(&self, ty: Id) -> bool {
        matches!(
            self.opcode(ty),
            op::TypeImage
                | op::TypeSampler
                | op::TypeSampledImage
                | op::TypeAccelerationStructureKHR
                | op::TypeRayQueryKHR
                | op::TypeOpaque
        )
    }

    /// Storage class of a pointer type.
    pub(crate) fn storage_class(&self, pointer_type: Id) -> Option<u32> {
        let ty = self.def(pointer_type)?;
        matches!(ty.opcode(), op::TypePointer | op::TypeUntypedPointerKHR).then(|| ty.word(2))
    }

    /// What arrays, and arrays of arrays, are made of; the type itself if it is no array.
    pub(crate) fn under_arrays(&self, mut ty: Id) -> Id {
        for _ in 0..16 {
            match self.def(ty) {
                Some(inst) if matches!(inst.opcode(), op::TypeArray | op::TypeRuntimeArray) => ty = inst.word(2),
                _ => break,
            }
        }
        ty
    }

    /// Type of the `index`th part of a composite type.
    pub(crate) fn part_type(&self, composite: Id, index: u32) -> Id {
        let Some(ty) = self.def(composite) else { return 0 };
        match ty.opcode() {
            op::TypeStruct => ty.word(2 + index as usize),
            op::TypeVector | op::TypeMatrix | op::TypeArray | op::TypeRuntimeArray => ty.word(2),
            _ => 0,
        }
    }
}
