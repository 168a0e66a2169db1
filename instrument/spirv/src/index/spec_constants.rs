//! The scalar constants of a module that pipelines can specialise.

use super::Index;
use super::names::Names;
use crate::op::decoration;
use crate::{Id, Inst, op};
use rustc_hash::FxHashSet as HashSet;
use vkabort_record::scalar::Scalar;
use vkabort_record::scalar_type::ScalarType;
use vkabort_record::specialization::SpecConstant;

/// The constants by ascending `SpecId`. Leaves out types that no message can have either.
pub fn spec_constants(index: &Index<'_>, names: &Names) -> Vec<SpecConstant> {
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
pub fn key_spec_id(index: &Index<'_>) -> Option<u32> {
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

/// The constants that `roots` depend on, and these, each once.
pub fn constants_of<'w>(index: &Index<'w>, roots: impl IntoIterator<Item = Id>) -> Vec<Inst<'w>> {
    let mut worklist: Vec<Id> = roots.into_iter().collect();
    let mut visited: HashSet<Id> = HashSet::default();
    let mut constants = Vec::new();
    while let Some(id) = worklist.pop() {
        let Some(inst) = index.def(id).filter(|_| visited.insert(id)) else {
            continue;
        };
        match inst.opcode() {
            op::SpecConstantOp if inst.spec_opcode() == op::CompositeExtract => worklist.push(inst.id(4)),
            op::SpecConstantOp => worklist.extend(inst.ids(4)),
            op::SpecConstantComposite => worklist.extend(inst.ids(3)),
            _ => {}
        }
        constants.push(inst);
    }
    constants
}

/// The `SpecId`s of those of some constants that have one, ascending, each once.
pub fn spec_ids_of(index: &Index<'_>, constants: &[Inst<'_>]) -> Vec<u32> {
    let scalars = constants.iter().filter(|inst| is_spec_scalar(inst.opcode()));
    let mut ids: Vec<u32> = scalars
        .filter_map(|inst| index.decoration(inst.result(), decoration::SpecId))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Whether an opcode declares a scalar specialisation constant with a default.
pub fn is_spec_scalar(opcode: u16) -> bool {
    matches!(opcode, op::SpecConstant | op::SpecConstantTrue | op::SpecConstantFalse)
}

/// The instructions of the constants with their `SpecId`s.
fn spec_scalars<'a>(index: &'a Index<'_>) -> impl Iterator<Item = (Inst<'a>, u32)> {
    let has_any = index
        .decorations
        .iter()
        .any(|decoration| decoration.kind == decoration::SpecId);
    let globals = has_any.then(|| index.globals()).into_iter().flatten();
    let scalars = globals.filter(|inst| is_spec_scalar(inst.opcode()));
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
