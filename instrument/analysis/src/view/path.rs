//! Paths to parts of composites.

use smallvec::SmallVec;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Id, Inst, op};

/// Constant indices that lead to a part of a composite, outermost first. A part that is itself a composite stands for all that is in it.
pub type Path = SmallVec<[u32; 4]>;

/// The rest of `path` below `prefix`: empty if it is shorter. `None` if the two are disjoint.
pub(crate) fn suffix_after(path: &[u32], prefix: &[u32]) -> Option<Path> {
    let is_same = path.iter().zip(prefix).all(|(one, other)| one == other);
    is_same.then(|| path.get(prefix.len()..).unwrap_or_default().into())
}

/// Whether two parts have something in common: one contains the other.
pub(crate) fn overlap(one: &[u32], other: &[u32]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// The type of the part at `path` of a composite type; [`Id::NONE`] if it has no such part. In an invalid module a type may be declared
/// to have itself as a part, which ends here: so the paths of a type are finite.
pub fn type_at(index: &Index<'_>, ty: Id, path: &[u32]) -> Id {
    path.iter().fold(ty, |ty, number| part_type(index, ty, *number))
}

/// The type of one part. Only pointers, which have no parts, may be declared behind the composite ("forward reference").
pub fn part_type(index: &Index<'_>, composite: Id, number: u32) -> Id {
    let part = index.part_type(composite, number);
    let is_declared = |part: &Inst<'_>| {
        let is_before = index
            .def(composite)
            .is_some_and(|composite| part.offset < composite.offset);
        is_before || part.opcode() == op::TypePointer
    };
    index
        .def(part)
        .filter(is_declared)
        .map_or(Id::NONE, |part| part.result())
}

/// Parts of a composite type, if their number is fixed.
pub fn part_count(index: &Index<'_>, ty: Id) -> Option<u64> {
    let inst = index.def(ty)?;
    match inst.opcode() {
        op::TypeStruct => Some(inst.words.len() as u64 - 2),
        op::TypeVector | op::TypeMatrix => Some(inst.component_count().into()),
        op::TypeArray => {
            let length = index
                .def(inst.array_length())
                .filter(|length| length.opcode() == op::Constant)?;
            index.literal(&length)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_above_below_or_beside_another() {
        let path = |words: &[u32]| Path::from(words);
        assert_eq!(suffix_after(&[1, 2], &[1]), Some(path(&[2])));
        assert_eq!(suffix_after(&[1], &[1, 2]), Some(path(&[])));
        assert_eq!(suffix_after(&[1, 2], &[0]), None);
        assert_eq!(suffix_after(&[], &[]), Some(path(&[])));
        assert!(overlap(&[1], &[1, 2]) && !overlap(&[1, 3], &[1, 2]));
    }
}
