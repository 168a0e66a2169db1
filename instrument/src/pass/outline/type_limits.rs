//! Types that cannot cross the border of a region as they are.

use crate::analysis::index::Index;
use crate::spv::op::{capability, decoration};
use crate::spv::{Id, op};
use rustc_hash::FxHashSet as HashSet;

/// Found once a round, since very many values may cross.
pub(super) struct Types {
    /// What holds scalars of 8 and 16 bits that the module can only load, store and convert, and these scalars themselves.
    narrow: HashSet<Id>,
    /// Structures with built-in members, and arrays of them. No other structure may hold one.
    with_built_ins: HashSet<Id>,
}

impl Types {
    pub(super) fn new(index: &Index<'_>) -> Self {
        let lacks = |capability| !index.has_capability(capability);
        let (half, short, byte) = (
            lacks(capability::Float16),
            lacks(capability::Int16),
            lacks(capability::Int8),
        );
        let members = index
            .decorations
            .iter()
            .filter(|d| d.kind == decoration::BuiltIn && d.member.is_some());
        let mut found = Self {
            narrow: HashSet::default(),
            with_built_ins: members.map(|d| d.target).collect(),
        };
        for inst in index.globals() {
            let (opcode, id) = (inst.opcode(), inst.word(1));
            let is_narrow = match (opcode, inst.word(2)) {
                // Formats with an encoding of their own come with the capability for their type.
                (op::TypeFloat, 16) => half && inst.words.len() == 3,
                (op::TypeInt, 16) => short,
                (op::TypeInt, 8) => byte,
                (op::TypeVector | op::TypeMatrix | op::TypeArray, part) => found.narrow.contains(&part),
                (op::TypeStruct, _) => inst.from(2).iter().any(|member| found.narrow.contains(member)),
                _ => false,
            };
            if is_narrow {
                found.narrow.insert(id);
            }
            if opcode == op::TypeArray && found.with_built_ins.contains(&inst.word(2)) {
                found.with_built_ins.insert(id);
            }
        }
        found
    }

    pub(super) fn are_narrow(&self, ty: Id) -> bool {
        self.narrow.contains(&ty)
    }

    pub(super) fn have_built_ins(&self, ty: Id) -> bool {
        self.with_built_ins.contains(&ty)
    }
}
