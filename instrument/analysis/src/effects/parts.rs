//! Parts of values, and how instructions move them.

use crate::view::path::{Path, part_count, part_type, suffix_after};
use smallvec::SmallVec;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::glsl;
use vkabort_spirv::{Id, Inst, op};

/// Parts of a composite that are followed one by one. One with more counts as dropped.
const MOST_PARTS: usize = 64;

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValuePart {
    pub id: Id,
    pub path: Path,
}

impl ValuePart {
    /// A whole value.
    pub fn whole(id: Id) -> Self {
        Self { id, path: Path::new() }
    }

    /// A component of a vector, or a scalar.
    pub fn component(id: Id, component: Option<u32>) -> Self {
        Self {
            id,
            path: component.into_iter().collect(),
        }
    }
}

/// The parts of an instruction's result that the part `path` of its operand in word `word` determines. Empty if it is dropped,
/// or if a dynamic index may drop it.
pub fn results(index: &Index<'_>, inst: &Inst<'_>, word: usize, path: &Path) -> SmallVec<[Path; 2]> {
    let one = |path: Path| -> SmallVec<[Path; 2]> { std::iter::once(path).collect() };
    match (inst.opcode(), word) {
        (op::CopyObject | op::CopyLogical, _) => one(path.clone()),
        (op::CompositeConstruct, _) => existing(index, inst, constructed(index, inst, word, path)),
        (op::CompositeExtract, _) => suffix_after(path, inst.from(4)).into_iter().collect(),
        (op::CompositeInsert, 3) => existing(index, inst, inst.from(5).iter().chain(path).copied().collect()),
        (op::CompositeInsert, _) => inserted_over(index, inst, path),
        (op::VectorShuffle, _) => shuffled(index, inst, word, path),
        // Code that freezes a value expects that it is poison.
        (op::FreezeKHR, _) => SmallVec::new(),
        (op::VectorExtractDynamic, 3) | (op::VectorInsertDynamic, 3 | 4) => SmallVec::new(),
        _ if is_by_component(index, inst, word) => one(path.clone()),
        _ => one(Path::new()),
    }
}

/// A part of an instruction's result, unless its type has no such part: in an invalid module a composite may be a part of itself, whose
/// paths have no end.
fn existing(index: &Index<'_>, inst: &Inst<'_>, path: Path) -> SmallVec<[Path; 2]> {
    let mut ty = inst.result_type();
    let exists = path.iter().all(|part| {
        let is_counted = part_count(index, ty).is_none_or(|count| u64::from(*part) < count);
        ty = part_type(index, ty, *part);
        is_counted && ty.is_some()
    });
    exists.then_some(path).into_iter().collect()
}

/// Components of a vector type, 1 for others.
pub fn component_count(index: &Index<'_>, ty: Id) -> u32 {
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

/// The rest of the composite that `OpCompositeInsert` copies: each component of a vector but the inserted one, if all of it is
/// undefined.
fn inserted_over(index: &Index<'_>, inst: &Inst<'_>, path: &Path) -> SmallVec<[Path; 2]> {
    let inserted = inst.from(5);
    let is_vector = index.opcode(inst.result_type()) == op::TypeVector;
    match (path.starts_with(inserted), path.is_empty() && is_vector) {
        (true, _) => SmallVec::new(),
        (false, true) => {
            let components = 0..component_count(index, inst.result_type());
            let left = components.filter(|component| inserted.first() != Some(component));
            left.map(|component| std::iter::once(component).collect()).collect()
        }
        (false, false) => std::iter::once(path.clone()).collect(),
    }
}

fn shuffled(index: &Index<'_>, inst: &Inst<'_>, word: usize, path: &Path) -> SmallVec<[Path; 2]> {
    let before = match word {
        3 => 0,
        _ => component_count(index, index.type_of(inst.id(3))),
    };
    let end = before + component_count(index, index.type_of(inst.id(word)));
    let is_taken = |from: u32| match path.first() {
        Some(component) => from == before + component,
        None => (before..end).contains(&from),
    };
    let selected = (0..).zip(inst.from(5)).filter(|(_, from)| is_taken(**from));
    selected.map(|(to, _)| std::iter::once(to).collect()).collect()
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

/// Paths to the scalars and vectors' components of a type. `None` if they are more than [`MOST_PARTS`] or not known.
pub fn leaves(index: &Index<'_>, ty: Id) -> Option<Vec<Path>> {
    let (mut found, mut worklist) = (Vec::new(), vec![(Path::new(), ty)]);
    while let Some((path, ty)) = worklist.pop() {
        let is_composite = matches!(
            index.opcode(ty),
            op::TypeStruct | op::TypeVector | op::TypeMatrix | op::TypeArray
        );
        if !is_composite {
            found.push(path);
        } else {
            let count = part_count(index, ty).filter(|count| *count <= MOST_PARTS as u64)?;
            worklist.extend((0..count as u32).map(|part| {
                let path = path.iter().copied().chain([part]).collect();
                (path, part_type(index, ty, part))
            }));
        }
        if found.len() + worklist.len() > MOST_PARTS {
            return None;
        }
    }
    Some(found)
}
