//! Parts of a value that are copied with the others although they may never be read.
//!
//! ```text
//! Particle p;  p.position = ..;  particles[i] = p;        p.padding was never stored, and is copied
//! vec4 v;      v.xy = velocity;  outVelocity = v;         the attachment has two components
//! ```
//!
//! For the check `initialized` such a copy is not an effect. A copy of a scalar or of a whole vector to a buffer is one.

use super::parts::ValuePart;
use super::use_finder::UseFinder;
use crate::view::{FunctionView, ObjectClass};
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op};

impl UseFinder<'_, '_, '_> {
    /// Whether an instruction copies a part of a value, its operand in word `word`, where others need not read it.
    pub(super) fn is_part_of_copy(
        &self,
        function: &FunctionView<'_, '_>,
        part: &ValuePart,
        inst: &Inst<'_>,
        word: usize,
    ) -> bool {
        let index = self.view.index;
        let component = part.path.last().copied();
        match (inst.opcode(), word) {
            (op::Store, 2) => match function.object_at(inst.offset).map(|object| object.class) {
                None => is_of_structure(index, part.id),
                Some(ObjectClass::Output) => component.is_some_and(|at| at > 0) || is_of_structure(index, part.id),
                Some(_) => false,
            },
            (op::ImageWrite, 3) => is_beyond_texel(index, part, inst),
            (op::ImageWrite, 2) => component.is_some_and(|at| at >= coordinates(index, inst.id(1))),
            (op::ImageSampleImplicitLod..=op::ImageRead, 4) => {
                let projected = u32::from(is_projective(inst.opcode()));
                component.is_some_and(|at| at >= coordinates(index, inst.id(3)) + projected)
            }
            _ => false,
        }
    }
}

/// Whether a value is a structure or an array, or was taken from one.
fn is_of_structure(index: &Index<'_>, value: Id) -> bool {
    let mut source = index.def(value);
    while let Some(inst) = source {
        if matches!(index.opcode(inst.result_type()), op::TypeStruct | op::TypeArray) {
            return true;
        }
        let (op::CompositeExtract | op::CopyObject | op::CopyLogical | op::Bitcast) = inst.opcode() else {
            return false;
        };
        // In an invalid module a value may be taken from itself.
        source = index.def(inst.id(3)).filter(|before| before.offset < inst.offset);
    }
    true
}

/// Whether a part of the texel of `OpImageWrite` is a component that the format need not have.
pub(super) fn is_beyond_texel(index: &Index<'_>, part: &ValuePart, write: &Inst<'_>) -> bool {
    let image = index.def(index.type_of(write.id(1)));
    let count = image.map_or(1, |image| channels(image.word(8)));
    part.path.last().is_some_and(|component| *component >= count)
}

/// Components of a texel that its format (SPIR-V specification, Image Format) is certain to have.
fn channels(format: u32) -> u32 {
    use spirv::ImageFormat as F;
    let format = F::from_u32(format).unwrap_or(F::Unknown);
    match format {
        F::Rgba32f
        | F::Rgba16f
        | F::Rgba8
        | F::Rgba8Snorm
        | F::Rgba16
        | F::Rgb10A2
        | F::Rgba16Snorm
        | F::Rgba32i
        | F::Rgba16i
        | F::Rgba8i
        | F::Rgba32ui
        | F::Rgba16ui
        | F::Rgba8ui
        | F::Rgb10a2ui => 4,
        F::R11fG11fB10f => 3,
        F::Rg32f
        | F::Rg16f
        | F::Rg16
        | F::Rg8
        | F::Rg16Snorm
        | F::Rg8Snorm
        | F::Rg32i
        | F::Rg16i
        | F::Rg8i
        | F::Rg32ui
        | F::Rg16ui
        | F::Rg8ui => 2,
        _ => 1,
    }
}

/// Components of a coordinate that an image or sampled image needs.
fn coordinates(index: &Index<'_>, image: Id) -> u32 {
    use spirv::Dim;
    let ty = index.def(index.type_of(image));
    let ty = match ty {
        Some(sampled) if sampled.opcode() == op::TypeSampledImage => index.def(sampled.id(2)),
        ty => ty,
    };
    let Some(image) = ty.filter(|ty| ty.opcode() == op::TypeImage) else {
        return 1;
    };
    let of_dim = match Dim::from_u32(image.image_dim()) {
        Some(Dim::DimCube | Dim::Dim3D) => 3,
        Some(Dim::Dim2D | Dim::DimRect | Dim::DimSubpassData) => 2,
        _ => 1,
    };
    of_dim + u32::from(image.word(5) != 0)
}

fn is_projective(opcode: u16) -> bool {
    (op::ImageSampleProjImplicitLod..op::ImageFetch).contains(&opcode)
}
