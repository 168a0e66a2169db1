//! Conversions of numbers. One that keeps every value is not part of an expression: compilers add them, and the value is right
//! without.

use super::Expressions;
use vkabort_record::scalar_type::{ScalarKind, ScalarType};
use vkabort_spirv::{Id, Inst, op};

/// A number or a vector of numbers.
#[derive(Clone, Copy)]
struct Numbers {
    component: ScalarType,
    count: u32,
}

impl Expressions<'_, '_> {
    /// The function that a conversion is. `None` if it keeps every value, or if GLSL has no name for it.
    pub(super) fn conversion(&self, inst: &Inst<'_>) -> Option<String> {
        let from = self.numbers(self.index.type_of(inst.id(3)))?;
        let to = self.numbers(inst.result_type())?;
        let (source, target) = (from.component, to.component);
        // The length of an array is an unsigned number, which GLSL gives as a signed one.
        let is_length = self.index.opcode(inst.id(3)) == op::ArrayLength;
        let keeps_values = match (inst.opcode(), source.kind(), target.kind()) {
            (op::UConvert, ScalarKind::Unsigned, _)
            | (op::SConvert, ScalarKind::Signed, ScalarKind::Signed)
            | (op::FConvert, ..) => target.bits() > source.bits(),
            (op::Bitcast, source, target) => source == target && from.count == to.count || is_length,
            _ => false,
        };
        if keeps_values {
            return None;
        }
        if inst.opcode() == op::Bitcast && from.count != to.count {
            let name = if from.count < to.count { "unpack" } else { "pack" };
            return Some(format!("{name}{}", target.bits()));
        }
        if inst.opcode() != op::Bitcast || from.is_integer() && to.is_integer() && from.count == to.count {
            return to.name();
        }
        let name = match (source, target) {
            (ScalarType::F32, ScalarType::U32) => "floatBitsToUint",
            (ScalarType::F32, ScalarType::I32) => "floatBitsToInt",
            (ScalarType::U32, ScalarType::F32) => "uintBitsToFloat",
            (ScalarType::I32, ScalarType::F32) => "intBitsToFloat",
            _ => return None,
        };
        Some(name.to_owned())
    }

    /// The value that a cast gives back the type of, after another cast.
    pub(super) fn cast_back(&self, inst: &Inst<'_>) -> Option<Id> {
        let inner = self.index.def(inst.id(3)).filter(|_| inst.opcode() == op::Bitcast);
        let inner = inner.filter(|inner| inner.opcode() == op::Bitcast && inner.offset < inst.offset)?;
        // A name stands for the value between.
        if self.variable(inner.result()).is_some() {
            return None;
        }
        let original = self
            .index
            .def(inner.id(3))
            .filter(|original| original.offset < inner.offset)?;
        (original.result_type() == inst.result_type()).then(|| original.result())
    }

    fn numbers(&self, ty: Id) -> Option<Numbers> {
        let inst = self.index.def(ty)?;
        let (component, count) = match inst.opcode() {
            op::TypeVector => (inst.id(2), inst.word(3)),
            _ => (ty, 1),
        };
        let component = self.index.scalar_type(component).filter(|ty| ty.is_number())?;
        Some(Numbers { component, count })
    }
}

impl Numbers {
    fn is_integer(self) -> bool {
        matches!(self.component.kind(), ScalarKind::Signed | ScalarKind::Unsigned)
    }

    /// The name of the type in GLSL.
    fn name(self) -> Option<String> {
        let (scalar, vector) = match self.component {
            ScalarType::I8 => ("int8_t", "i8vec"),
            ScalarType::I16 => ("int16_t", "i16vec"),
            ScalarType::I32 => ("int", "ivec"),
            ScalarType::I64 => ("int64_t", "i64vec"),
            ScalarType::U8 => ("uint8_t", "u8vec"),
            ScalarType::U16 => ("uint16_t", "u16vec"),
            ScalarType::U32 => ("uint", "uvec"),
            ScalarType::U64 => ("uint64_t", "u64vec"),
            ScalarType::F16 => ("float16_t", "f16vec"),
            ScalarType::F32 => ("float", "vec"),
            ScalarType::F64 => ("double", "dvec"),
            _ => return None,
        };
        Some(match self.count {
            1 => scalar.to_owned(),
            count => format!("{vector}{count}"),
        })
    }
}
