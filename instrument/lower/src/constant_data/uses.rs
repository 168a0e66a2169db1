//! The instructions that use the values of a module.

use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::storage_class;
use vkabort_spirv::{Id, Inst, op, operands};

/// The instructions that use the values of a module.
pub(super) struct Uses<'a, 'w> {
    index: &'a Index<'w>,
    /// Offsets by id.
    offsets: HashMap<Id, Vec<usize>>,
}

impl<'a, 'w> Uses<'a, 'w> {
    /// Indexes the instructions from the types on.
    pub(super) fn new(index: &'a Index<'w>) -> Self {
        let mut offsets: HashMap<Id, Vec<usize>> = HashMap::default();
        for inst in index.insts(index.globals_start(), index.words.len()) {
            let mut used = |i: usize| {
                let offsets = offsets.entry(inst.id(i)).or_default();
                if offsets.last() != Some(&inst.offset) {
                    offsets.push(inst.offset);
                }
            };
            if !operands::visit_ids(&inst, index.selector_words(&inst), &mut used) {
                (1..inst.words.len()).for_each(used);
            }
        }
        Self { index, offsets }
    }

    fn all(&self, id: Id) -> impl Iterator<Item = Inst<'w>> {
        let offsets = self.offsets.get(&id).map_or(&[][..], Vec::as_slice);
        offsets.iter().map(|offset| self.index.inst(*offset))
    }

    /// The instructions that use `id`, except for debug information.
    pub(super) fn of(&self, id: Id) -> Vec<Inst<'w>> {
        self.all(id).filter(|inst| !self.index.is_debug_inst(inst)).collect()
    }

    /// Whether debug information names `id`.
    pub(super) fn has_debug_info(&self, id: Id) -> bool {
        self.all(id).any(|inst| self.index.is_debug_inst(&inst))
    }

    /// Whether an instruction stores `value` through a pointer with a pointee type.
    pub(super) fn is_store(&self, inst: &Inst<'_>, value: Id) -> bool {
        inst.opcode() == op::Store
            && inst.stored_value() == value
            && self.index.opcode(self.index.type_of(inst.pointer())) == op::TypePointer
    }

    /// Whether every use of a value stores it.
    pub(super) fn is_only_stored(&self, value: Id) -> bool {
        self.of(value).iter().all(|inst| self.is_store(inst, value))
    }

    /// The variables that `data` initialises or is stored to.
    pub(super) fn variables_with(&self, data: Id) -> Vec<Id> {
        let variable = |inst: &Inst<'_>| match inst.opcode() {
            op::Variable => Some(inst.result()),
            op::Store => Some(inst.pointer()).filter(|pointer| self.index.opcode(*pointer) == op::Variable),
            _ => None,
        };
        let mut variables: Vec<Id> = self.of(data).iter().filter_map(variable).collect();
        variables.sort_unstable();
        variables.dedup();
        variables
    }

    /// The accesses to a variable, each an access chain and its loads, if it never holds anything but `data` and every chain
    /// `is_resolved`.
    pub(super) fn look_ups(
        &self,
        variable: Id,
        data: Id,
        is_resolved: impl Fn(&Inst<'w>) -> bool,
    ) -> Option<Vec<(Inst<'w>, Vec<Inst<'w>>)>> {
        let inst = self.index.def(variable).filter(|inst| inst.opcode() == op::Variable)?;
        let is_own = matches!(inst.storage_class(), storage_class::Function | storage_class::Private);
        let is_data = inst.ids(4).all(|initializer| initializer == data);
        if !is_own || !is_data {
            return None;
        }
        let mut look_ups = Vec::new();
        for usage in self.of(variable) {
            match usage.opcode() {
                op::Store if usage.stored_value() == data && usage.pointer() == variable => {}
                op::AccessChain | op::InBoundsAccessChain if is_resolved(&usage) => {
                    let loads = self.of(usage.result());
                    if loads.iter().any(|load| load.opcode() != op::Load) {
                        return None;
                    }
                    look_ups.push((usage, loads));
                }
                _ => return None,
            }
        }
        Some(look_ups)
    }
}
