//! The scalar constants of a module that pipelines can specialise.

use super::index::Index;
use super::index::names::Names;
use crate::spv::op::{self, decoration};
use crate::spv::{Id, Inst};
use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::specialization::SpecConstant;

/// The constants by ascending `SpecId`. Leaves out types that no message can have either.
pub(crate) fn spec_constants(index: &Index<'_>, names: &Names) -> Vec<SpecConstant> {
    let mut constants: Vec<SpecConstant> = spec_scalars(index)
        .filter_map(|(inst, id)| {
            let bits = match inst.opcode() {
                op::SpecConstant => inst.constant_bits(),
                opcode => u64::from(opcode == op::SpecConstantTrue),
            };
            Some(SpecConstant {
                id,
                name: names.name(index, inst.result()),
                default: Scalar::from_bits(scalar_type(index, inst.result_type())?, bits),
            })
        })
        .collect();
    constants.sort_by_key(|constant| constant.id);
    constants
}

/// The `SpecId` of the constant that carries the key of a specialisation: the smallest that the module does not use. `None` if
/// it has no constants to specialise.
pub(crate) fn key_spec_id(index: &Index<'_>) -> Option<u32> {
    spec_scalars(index).next()?;
    let mut used: Vec<u32> = index
        .decorations
        .iter()
        .filter(|decoration| decoration.kind == decoration::SpecId)
        .map(|decoration| decoration.value)
        .collect();
    used.sort_unstable();
    used.dedup();
    (0..)
        .zip(&used)
        .find(|(free, used)| free != *used)
        .map_or(u32::try_from(used.len()).ok(), |(free, _)| Some(free))
}

/// The instructions of the constants with their `SpecId`s.
fn spec_scalars<'a>(index: &'a Index<'_>) -> impl Iterator<Item = (Inst<'a>, u32)> {
    let has_any = index
        .decorations
        .iter()
        .any(|decoration| decoration.kind == decoration::SpecId);
    let globals = has_any.then(|| index.globals()).into_iter().flatten();
    let scalars = globals.filter(|inst| {
        matches!(
            inst.opcode(),
            op::SpecConstant | op::SpecConstantTrue | op::SpecConstantFalse
        )
    });
    scalars.filter_map(|inst| Some((inst, index.decoration(inst.result(), decoration::SpecId)?)))
}

fn scalar_type(index: &Index<'_>, ty: Id) -> Option<ScalarType> {
    let ty = index.def(ty)?;
    match ty.opcode() {
        op::TypeBool => Some(ScalarType::Bool),
        op::TypeInt => ScalarType::from_spirv_int(ty.width(), ty.is_signed_int()),
        op::TypeFloat => ScalarType::from_spirv_float(ty.width(), ty.words.get(3).copied()),
        _ => None,
    }
}
