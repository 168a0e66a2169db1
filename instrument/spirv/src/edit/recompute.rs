//! Computes logical pointers and opaque handles again where their definition does not dominate: no variable holds them, and no phi
//! selects them.

use crate::edit::emitter::Emitter;
use crate::index::Index;
use crate::op_sets::base_pointer;
use crate::{Code, Id, Inst, op, operands};
use rustc_hash::FxHashMap as HashMap;
use std::collections::hash_map::Entry;

/// Instructions that are computed again for one use, at most: chains of access chains are short.
const MAX_COPIES: usize = 64;

/// The instructions to repeat for a use.
pub struct Recomputation<'w> {
    /// In module order, in which every definition precedes its uses.
    insts: Vec<Inst<'w>>,
    /// By operand: the value that stands for it; itself if it is computed again, until its copy is written.
    available: HashMap<Id, Id>,
}

impl<'w> Recomputation<'w> {
    /// `available` gives the value that stands for an operand where it is used: itself, another one, or none if it has to be computed again
    /// too. `None`: an instruction cannot be repeated, or there are too many.
    pub fn new(index: &Index<'w>, id: Id, available: impl FnMut(Id) -> Option<Id>) -> Option<Self> {
        Self::within(MAX_COPIES, index, id, available)
    }

    /// As [`Recomputation::new`], with another limit.
    pub(super) fn within(
        limit: usize,
        index: &Index<'w>,
        id: Id,
        mut available: impl FnMut(Id) -> Option<Id>,
    ) -> Option<Self> {
        let mut found = Self {
            insts: Vec::new(),
            available: std::iter::once((id, id)).collect(),
        };
        let mut worklist = vec![id];
        while let Some(id) = worklist.pop() {
            let inst = index.def(id).filter(|inst| is_repeatable(index, inst))?;
            if found.insts.len() == limit {
                return None;
            }
            operands::visit_ids(&inst, 1, |word| {
                let operand = inst.id(word);
                if let Entry::Vacant(entry) = found.available.entry(operand) {
                    entry.insert(available(operand).unwrap_or_else(|| {
                        worklist.push(operand);
                        operand
                    }));
                }
            });
            found.insts.push(inst);
        }
        found.insts.sort_unstable_by_key(|inst| inst.offset);
        Some(found)
    }

    /// Adds the copies to `code`, and pairs of a value and its copy to `derived`. Returns the copy of the last one.
    pub fn write(self, out: &mut Emitter, code: &mut Code, derived: &mut Vec<(Id, Id)>) -> Id {
        let mut ids = self.available;
        let mut last = Id::NONE;
        for inst in self.insts {
            last = out.fresh();
            derived.push((inst.result(), last));
            ids.insert(inst.result(), last);
            code.copy_mapped(&inst, 1, |id| ids.get(&id).copied().unwrap_or(id));
        }
        last
    }
}

/// Whether a pointer or handle may be computed again by the instruction that defines it.
fn is_repeatable(index: &Index<'_>, inst: &Inst<'_>) -> bool {
    match inst.opcode() {
        op::ImageTexelPointer | op::UntypedImageTexelPointerEXT | op::BufferPointerEXT => true,
        op::Load | op::Image | op::SampledImage | op::CompositeExtract => index.is_opaque(inst.result_type()),
        _ => base_pointer(inst).is_some(),
    }
}
