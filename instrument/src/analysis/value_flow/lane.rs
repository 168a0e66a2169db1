//! Parts of values, and how instructions move them.

use crate::analysis::index::Index;
use crate::spv::op::glsl;
use crate::spv::{Id, Inst, op};
use smallvec::SmallVec;

/// Indices that lead to a part of a composite, outermost first. A part that is itself a composite stands for all that is in it.
pub(crate) type Path = SmallVec<[u32; 4]>;

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    pub(crate) id: Id,
    pub(crate) path: Path,
}

impl Lane {
    /// A whole value.
    pub(crate) fn whole(id: Id) -> Self {
        Self { id, path: Path::new() }
    }

    /// A component of a vector, or a scalar.
    pub(crate) fn component(id: Id, component: Option<u32>) -> Self {
        Self {
            id,
            path: component.into_iter().collect(),
        }
    }
}

/// What is left of `path` below `prefix`: nothing if it is shorter. `None` if the two part.
pub(crate) fn below(path: &[u32], prefix: &[u32]) -> Option<Path> {
    let is_same = path.iter().zip(prefix).all(|(one, other)| one == other);
    is_same.then(|| path.get(prefix.len()..).unwrap_or_default().into())
}

/// The parts of an instruction's result that the part `path` of its operand in word `word` determines. Empty if it is dropped,
/// or if a dynamic index may drop it.
pub(super) fn results(index: &Index<'_>, inst: &Inst<'_>, word: usize, path: &Path) -> SmallVec<[Path; 2]> {
    let one = |path: Path| -> SmallVec<[Path; 2]> { std::iter::once(path).collect() };
    match (inst.opcode(), word) {
        (op::CopyObject | op::CopyLogical, _) => one(path.clone()),
        (op::CompositeConstruct, _) => one(constructed(index, inst, word, path)),
        (op::CompositeExtract, _) => below(path, inst.from(4)).into_iter().collect(),
        (op::CompositeInsert, 3) => one(inst.from(5).iter().chain(path).copied().collect()),
        (op::CompositeInsert, _) => match path.starts_with(inst.from(5)) {
            true => SmallVec::new(),
            false => one(path.clone()),
        },
        (op::VectorShuffle, _) => shuffled(index, inst, word, path),
        // Code that freezes a value expects that it is poison.
        (op::FreezeKHR, _) => SmallVec::new(),
        // The first value, unless the weight of the second one is 1.
        (op::ExtInst, 5) if inst.ext_inst() == glsl::FMix && !is_constant(index, inst.id(7)) => SmallVec::new(),
        (op::VectorExtractDynamic, 3) | (op::VectorInsertDynamic, 3 | 4) => SmallVec::new(),
        _ if is_by_component(index, inst, word) => one(path.clone()),
        _ => one(Path::new()),
    }
}

/// Components of a vector type, 1 for others.
pub(crate) fn component_count(index: &Index<'_>, ty: Id) -> u32 {
    let vector = index.def(ty).filter(|ty| ty.opcode() == op::TypeVector);
    vector.map_or(1, |ty| ty.component_count())
}

fn constructed(index: &Index<'_>, inst: &Inst<'_>, word: usize, path: &Path) -> Path {
    let part = word.saturating_sub(3);
    if index.opcode(inst.result_type()) != op::TypeVector {
        return std::iter::once(part as u32).chain(path.iter().copied()).collect();
    }
    let before = inst.ids(3).take(part);
    let before: u32 = before.map(|part| component_count(index, index.type_of(part))).sum();
    match (path.first(), component_count(index, index.type_of(inst.id(word)))) {
        (Some(component), _) => std::iter::once(before + component).collect(),
        (None, 1) => std::iter::once(before).collect(),
        (None, _) => Path::new(),
    }
}

fn shuffled(index: &Index<'_>, inst: &Inst<'_>, word: usize, path: &Path) -> SmallVec<[Path; 2]> {
    let Some(component) = path.first() else {
        return std::iter::once(Path::new()).collect();
    };
    let before = match word {
        3 => 0,
        _ => component_count(index, index.type_of(inst.id(3))),
    };
    let selected = (0..).zip(inst.from(5)).filter(|(_, from)| **from == before + component);
    selected.map(|(to, _)| std::iter::once(to).collect()).collect()
}

fn is_constant(index: &Index<'_>, id: Id) -> bool {
    matches!(index.opcode(id), op::Constant | op::ConstantComposite)
}

/// Whether each component of the result depends on the same component of an operand only.
fn is_by_component(index: &Index<'_>, inst: &Inst<'_>, word: usize) -> bool {
    let is_listed = match inst.opcode() {
        op::ConvertFToU..=op::FConvert
        | op::Bitcast
        | op::SNegate..=op::VectorTimesScalar
        | op::IsNan
        | op::IsInf
        | op::LogicalEqual..=op::FUnordGreaterThanEqual
        | op::ShiftRightLogical..=op::BitCount
        | op::DPdx..=op::FwidthCoarse => true,
        op::ExtInst => !matches!(inst.ext_inst(), glsl::Length..=glsl::Refract),
        _ => false,
    };
    let count = |ty| component_count(index, ty);
    is_listed && count(inst.result_type()) == count(index.type_of(inst.id(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_part_or_go_on() {
        let path = |words: &[u32]| Path::from(words);
        assert_eq!(below(&[1, 2], &[1]), Some(path(&[2])));
        assert_eq!(below(&[1], &[1, 2]), Some(path(&[])));
        assert_eq!(below(&[1, 2], &[0]), None);
        assert_eq!(below(&[], &[]), Some(path(&[])));
    }
}
