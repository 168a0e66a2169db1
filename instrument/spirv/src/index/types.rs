//! Queries about types.

use super::Index;
use crate::op::{capability, decoration, storage_class};
use crate::{Id, Inst, op};
use std::collections::BTreeSet;
use vkabort_record::scalar_type::ScalarType;

impl Index<'_> {
    /// Opcode of the instruction that defines `id`, 0 if none does.
    pub fn opcode(&self, id: Id) -> u16 {
        self.def(id).map_or(0, |i| i.opcode())
    }

    /// Type of a value.
    pub fn type_of(&self, value: Id) -> Id {
        self.def(value).map_or(Id::NONE, |i| i.result_type())
    }

    /// Whether values of a type are pointers into anything but physical storage buffers: they cannot be stored,
    /// returned or selected without variable pointers.
    pub fn is_logical_pointer(&self, ty: Id) -> bool {
        self.storage_class(ty)
            .is_some_and(|class| class != storage_class::PhysicalStorageBuffer)
    }

    /// Whether values of a type are handles of images, samplers and the like, which must be defined in the block that
    /// uses them.
    pub fn is_opaque(&self, ty: Id) -> bool {
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
    pub fn storage_class(&self, pointer_type: Id) -> Option<u32> {
        let ty = self.def(pointer_type)?;
        matches!(ty.opcode(), op::TypePointer | op::TypeUntypedPointerKHR).then(|| ty.storage_class())
    }

    /// The scalar type that `ty` is, if a message may contain it.
    pub fn scalar_type(&self, ty: Id) -> Option<ScalarType> {
        let ty = self.def(ty)?;
        match ty.opcode() {
            op::TypeBool => Some(ScalarType::Bool),
            op::TypeInt => ScalarType::from_spirv_int(ty.width(), ty.is_signed_int()),
            op::TypeFloat => ScalarType::from_spirv_float(ty.width(), ty.words.get(3).copied()),
            op::TypePointer if ty.storage_class() == storage_class::PhysicalStorageBuffer => Some(ScalarType::Pointer),
            _ => None,
        }
    }

    /// Whether the module may only load, store and convert numbers of a type of 8 or 16 bits: it lacks the capability for arithmetic
    /// (SPIR-V specification, Capability, `StorageBuffer16BitAccess` and the like).
    pub fn lacks_arithmetic(&self, number: &Inst<'_>) -> bool {
        let needed = match (number.opcode(), number.width()) {
            (op::TypeInt, 8) => capability::Int8,
            (op::TypeInt, 16) => capability::Int16,
            // The capability for a type with an FP Encoding allows its values everywhere.
            (op::TypeFloat, 16) if number.words.len() == 3 => capability::Float16,
            _ => return false,
        };
        !self.has_capability(needed)
    }

    /// Whether values of a type contain numbers that [lack arithmetic](Self::lacks_arithmetic), so that nothing may be composed of
    /// them or extracted from them.
    pub fn is_storage_only(&self, ty: Id) -> bool {
        let mut worklist = vec![ty];
        // A type is defined before it is used. In an invalid module it may contain itself.
        let mut seen = BTreeSet::new();
        while let Some(ty) = worklist.pop() {
            let Some(inst) = self.def(ty).filter(|_| seen.insert(ty)) else {
                continue;
            };
            match inst.opcode() {
                op::TypeInt | op::TypeFloat if self.lacks_arithmetic(&inst) => return true,
                op::TypeVector | op::TypeMatrix | op::TypeArray => worklist.push(inst.element_type()),
                op::TypeStruct => worklist.extend(inst.ids(2)),
                _ => {}
            }
        }
        false
    }

    /// Whether a variable is a built-in one, or a block of them.
    pub fn is_built_in(&self, variable: Id) -> bool {
        let pointee = self.def(self.type_of(variable)).map_or(Id::NONE, |ty| ty.pointee());
        let block = self.under_arrays(pointee);
        let mut all = self.decorations_of(variable).chain(self.decorations_of(block));
        all.any(|found| found.kind == decoration::BuiltIn)
    }

    /// The innermost element type of an array, or the type itself if it is not an array.
    pub fn under_arrays(&self, mut ty: Id) -> Id {
        let mut before = usize::MAX;
        // A type is defined before it is used. In an invalid module it may contain itself.
        while let Some(inst) = self.def(ty).filter(|inst| inst.offset < before)
            && matches!(inst.opcode(), op::TypeArray | op::TypeRuntimeArray)
        {
            (ty, before) = (inst.element_type(), inst.offset);
        }
        ty
    }

    /// Type of the `index`th part of a composite type.
    pub fn part_type(&self, composite: Id, index: u32) -> Id {
        let Some(ty) = self.def(composite) else { return Id::NONE };
        match ty.opcode() {
            op::TypeStruct => ty.id(2 + index as usize),
            op::TypeVector | op::TypeVectorIdEXT | op::TypeMatrix | op::TypeArray | op::TypeRuntimeArray => {
                ty.element_type()
            }
            _ => Id::NONE,
        }
    }
}
