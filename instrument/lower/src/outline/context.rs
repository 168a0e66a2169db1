//! Facts about the region being moved, and the ids that it gets in its new function.

use super::decorations::DecorationInsts;
use super::region::Region;
use super::uses::{OutsideUses, ReachableBlocks, defining_block};
use super::widening::{TypeLimits, Widening, choose_widening};
use rustc_hash::FxHashMap as HashMap;
use vkabort_spirv::edit::address_words::takes_layout_from_chain;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::error::Result;
use vkabort_spirv::index::{Function, Index};
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::op_sets::is_untyped_chain;
use vkabort_spirv::{Id, Inst, op};

/// State of the move of one region.
pub(super) struct RegionContext<'a, 'w> {
    pub(super) index: &'a Index<'w>,
    pub(super) function: &'a Function,
    pub(super) region: &'a Region,
    pub(super) uses: &'a OutsideUses<'w>,
    pub(super) reachable: &'a ReachableBlocks,
    pub(super) limits: &'a TypeLimits,
    pub(super) decorations: &'a DecorationInsts<'w>,
    pub(super) out: &'a mut Emitter,
    /// Ids in the new function, by id of the old one, where they differ.
    pub(super) inner_ids: HashMap<Id, Id>,
}

impl<'w> RegionContext<'_, 'w> {
    /// The id in the new function of `id`.
    pub(super) fn inner_id(&self, id: Id) -> Id {
        self.inner_ids.get(&id).copied().unwrap_or(id)
    }

    /// Gives `id` a fresh id in the new function.
    pub(super) fn rename(&mut self, id: Id) -> Id {
        let inner = self.out.fresh();
        self.inner_ids.insert(id, inner);
        inner
    }

    /// Copies an instruction into the new function.
    pub(super) fn copy(&mut self, inst: &Inst<'_>) {
        let (width, ids) = (self.index.selector_words(inst), &self.inner_ids);
        let inner_id = |id| ids.get(&id).copied().unwrap_or(id);
        self.out.code.copy_mapped(inst, width, inner_id);
    }

    /// Whether a label is that of a block of the region.
    pub(super) fn is_region_label(&self, label: Id) -> bool {
        self.index
            .block_of_label(self.function, label)
            .is_some_and(|b| self.region.blocks.contains(&b))
    }

    /// Whether the region defines an id; `None` if its function does not.
    pub(super) fn is_defined_in_region(&self, id: Id) -> Option<bool> {
        let inst = self.index.def(id)?;
        let is_local = (self.function.offset..self.function.end).contains(&inst.offset);
        let block = || defining_block(self.index, self.function, id);
        is_local.then(|| block().is_some_and(|b| self.region.blocks.contains(&b)))
    }

    /// Whether the other side has to repeat the instruction instead of receiving its result: functions cannot take or
    /// return some types, and structures cannot hold some. Only instructions that give the same value at another place are
    /// repeated: a loaded pointer is not, since the variable may hold another one by then, and an opaque value that a
    /// function takes or returns is passed on as before.
    pub(super) fn must_rematerialize(&self, inst: &Inst<'_>) -> bool {
        let ty = inst.result_type();
        match inst.opcode() {
            // FPRoundingMode is valid only where the result is stored.
            op::FConvert => self
                .index
                .decoration(inst.result(), decoration::FPRoundingMode)
                .is_some(),
            op::CopyObject | op::CompositeExtract if self.limits.has_built_ins(ty) => true,
            // A parameter or result would not have the layout of the member that the chain passes.
            _ if takes_layout_from_chain(self.index, inst.result()) => true,
            op::CopyObject | op::Undef => self.index.is_opaque(ty) || self.index.is_logical_pointer(ty),
            // A structure with built-ins cannot be a member of the structure that carries the outputs.
            op::Load if self.index.storage_class(self.index.type_of(inst.pointer())) == Some(storage_class::Input) => {
                self.limits.has_built_ins(ty) || self.index.is_opaque(ty)
            }
            op::Load | op::Image | op::SampledImage | op::CompositeExtract | op::ConvertUToAccelerationStructureKHR => {
                self.index.is_opaque(ty)
            }
            op::AccessChain
            | op::InBoundsAccessChain
            | op::PtrAccessChain
            | op::InBoundsPtrAccessChain
            | op::RawAccessChainNV
            | op::ImageTexelPointer
            | op::UntypedImageTexelPointerEXT
            | op::BufferPointerEXT => self.index.is_logical_pointer(ty),
            opcode => is_untyped_chain(opcode) && self.index.is_logical_pointer(ty),
        }
    }

    /// How values of a type cross the border; `None` for those that cross as they are.
    pub(super) fn widening(&mut self, ty: Id, offset: usize) -> Result<Option<Widening>> {
        choose_widening(self.index, self.limits, self.out, ty, offset)
    }

    /// Defines `id` as an undefined value of a type.
    pub(super) fn define_undefined(&mut self, ty: Id, id: Id) -> Result<()> {
        let Some(widening) = self.widening(ty, self.function.offset)? else {
            self.out.op(op::Undef, (ty, id));
            return Ok(());
        };
        let wide = self.out.emit(op::Undef, widening.wide_type, ());
        widening.narrow(self.out, wide, id);
        Ok(())
    }
}
