//! Types whose values cannot cross the border of a region as they are.

use crate::analysis::index::Index;
use crate::spv::op::{capability, decoration};
use crate::spv::{Id, op};
use rustc_hash::FxHashSet as HashSet;

/// Collected once per round, since very many values may cross.
pub(super) struct TypeLimits {
    /// 8- and 16-bit scalars that the module may only load, store and convert, and the composites that hold them.
    storage_only: HashSet<Id>,
    /// Structures with built-in members, and arrays of them. No other structure may hold one.
    with_built_ins: HashSet<Id>,
}

impl TypeLimits {
    /// O(declarations of the module).
    pub(super) fn new(index: &Index<'_>) -> Self {
        let lacks = |capability| !index.has_capability(capability);
        let (lacks_half, lacks_short, lacks_byte) = (
            lacks(capability::Float16),
            lacks(capability::Int16),
            lacks(capability::Int8),
        );
        let members = index
            .decorations
            .iter()
            .filter(|d| d.kind == decoration::BuiltIn && d.member.is_some());
        let mut limits = Self {
            storage_only: HashSet::default(),
            with_built_ins: members.map(|d| d.target).collect(),
        };
        for inst in index.globals() {
            let (opcode, id) = (inst.opcode(), inst.result());
            let is_storage_only = match (opcode, inst.word(2)) {
                // The capability for a type with an FP Encoding allows its values everywhere.
                (op::TypeFloat, 16) => lacks_half && inst.words.len() == 3,
                (op::TypeInt, 16) => lacks_short,
                (op::TypeInt, 8) => lacks_byte,
                (op::TypeVector | op::TypeMatrix | op::TypeArray, part) => limits.storage_only.contains(&part),
                (op::TypeStruct, _) => inst.from(2).iter().any(|member| limits.storage_only.contains(member)),
                _ => false,
            };
            if is_storage_only {
                limits.storage_only.insert(id);
            }
            if opcode == op::TypeArray && limits.with_built_ins.contains(&inst.element_type()) {
                limits.with_built_ins.insert(id);
            }
        }
        limits
    }

    /// Whether the module may only load, store and convert values of a type.
    pub(super) fn is_storage_only(&self, ty: Id) -> bool {
        self.storage_only.contains(&ty)
    }

    /// Whether a type is a structure with built-in members, or an array of them.
    pub(super) fn has_built_ins(&self, ty: Id) -> bool {
        self.with_built_ins.contains(&ty)
    }
}
