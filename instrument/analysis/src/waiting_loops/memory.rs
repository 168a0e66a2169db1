//! Instructions that observe writes of other invocations.

use super::pointers::Pointers;
use super::written::WrittenVariables;
use rustc_hash::FxHashSet as HashSet;
use vkabort_spirv::index::{Decoration, Index};
use vkabort_spirv::op::memory_operands::{MAKE_POINTER_VISIBLE, VOLATILE};
use vkabort_spirv::op::{decoration, image_operands, memory_model, memory_semantics, storage_class};
use vkabort_spirv::op_sets::{base_pointer, is_atomic_read, is_unknown, is_untyped_chain};
use vkabort_spirv::{Id, Inst, op};

/// Whether a module has anything that may be a shared read or a barrier. Most modules do not.
pub(super) fn may_read_shared_memory(index: &Index<'_>) -> bool {
    index.decorations.iter().any(|d| is_coherent(d.kind))
        || index
            .insts(index.sections.globals, index.words.len())
            .any(|i| match i.opcode() {
                op::Load => i.load_access() & SHARED_FLAGS != 0,
                op::ImageRead | op::ImageSparseRead => i.image_access() & SHARED_TEXEL_FLAGS != 0,
                op::ControlBarrier | op::MemoryBarrier => true,
                opcode => is_atomic_read(opcode) || is_unknown(opcode),
            })
}

/// Memory operands of loads that observe writes of other invocations. A load that is only not private observes them behind an acquire,
/// as plain loads do in other memory models: Tint writes all loads so.
const SHARED_FLAGS: u32 = VOLATILE | MAKE_POINTER_VISIBLE;
/// Image operands of reads that observe writes of other invocations.
const SHARED_TEXEL_FLAGS: u32 = image_operands::VOLATILE_TEXEL | image_operands::MAKE_TEXEL_VISIBLE;

/// Memory semantics of atomics that make earlier writes of others visible.
const ACQUIRE: u32 =
    memory_semantics::ACQUIRE | memory_semantics::ACQUIRE_RELEASE | memory_semantics::SEQUENTIALLY_CONSISTENT;

/// The `Dim` of input attachments.
const SUBPASS_DATA: u32 = 6;

fn is_coherent(kind: u32) -> bool {
    kind == decoration::Coherent || kind == decoration::Volatile
}

/// Memory, classified by its decorations.
pub(super) struct Memory<'a, 'w> {
    pub(super) pointers: Pointers<'a, 'w>,
    /// Ids with a `Coherent` or `Volatile` decoration, of their own or of a member, and pointers into them.
    coherent: HashSet<Id>,
    /// Whether something is `Volatile`.
    has_volatile: bool,
    /// Whether atomics with acquire semantics make plain loads behind them see writes of others.
    has_acquire: bool,
    /// Ids with a `NonWritable` decoration, of their own or of all members.
    read_only: HashSet<Id>,
    written: WrittenVariables,
}

impl<'a, 'w> Memory<'a, 'w> {
    /// O(words of the module).
    pub(super) fn new(index: &'a Index<'w>) -> Self {
        let (mut coherent, mut read_only) = (HashSet::default(), HashSet::default());
        for of_target in index.decorations.chunk_by(|a, b| a.target == b.target) {
            let Some(Decoration { target, .. }) = of_target.first() else {
                continue;
            };
            if of_target.iter().any(|d| is_coherent(d.kind)) {
                coherent.insert(*target);
            }
            let mut of_kind = of_target.iter().filter(|d| d.kind == decoration::NonWritable);
            let members = index.def(*target).map_or(0, |inst| inst.from(2).len());
            if of_kind.clone().count() >= members.max(1) || of_kind.any(|d| d.member.is_none()) {
                read_only.insert(*target);
            }
        }
        let model = index.inst(index.sections.memory_model);
        let pointers = Pointers::new(index);
        let mut memory = Self {
            written: WrittenVariables::new(&pointers),
            pointers,
            coherent,
            has_volatile: index.decorations.iter().any(|d| d.kind == decoration::Volatile),
            has_acquire: model.memory_model() == memory_model::Vulkan,
            read_only,
        };
        for inst in index.insts(index.sections.globals, index.words.len()) {
            memory.add_pointer(&inst);
        }
        memory
    }

    /// Whether an instruction is a barrier, or an atomic behind which loads see earlier writes of others.
    pub(super) fn synchronizes(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::ControlBarrier | op::MemoryBarrier => true,
            opcode if self.has_acquire && is_atomic_read(opcode) => {
                let semantics = self.pointers.index.def(inst.id(5));
                let constant = semantics.filter(|semantics| semantics.opcode() == op::Constant);
                let value = constant.and_then(|constant| self.pointers.index.literal(&constant));
                value.is_none_or(|value| value & u64::from(ACQUIRE) != 0)
            }
            _ => false,
        }
    }

    /// Adds a pointer that is formed from another, which is defined before it.
    fn add_pointer(&mut self, inst: &Inst<'_>) {
        let Some(from) = base_pointer(inst) else { return };
        let block = match inst.opcode() {
            op::CopyObject => Id::NONE,
            opcode if is_untyped_chain(opcode) => inst.first_operand(),
            _ => self.pointers.pointee(from),
        };
        if self.coherent.contains(&from) || self.coherent.contains(&self.pointers.index.under_arrays(block)) {
            self.coherent.insert(inst.result());
        }
    }

    /// Atomic and volatile reads of memory that other invocations can write, and coherent ones of memory that the module writes.
    pub(super) fn reads(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::Load => {
                let (pointer, flags) = (inst.pointer(), inst.load_access());
                let is_coherent = flags & SHARED_FLAGS != 0 || self.coherent.contains(&pointer);
                let is_volatile = self.has_volatile || flags & VOLATILE != 0;
                self.pointers.is_shared(pointer)
                    && is_coherent
                    && (is_volatile || self.written.contains(&self.pointers, pointer))
            }
            op::ImageRead | op::ImageSparseRead => {
                let (image, flags) = (self.pointers.handle(inst.image()), inst.image_access());
                let is_coherent = flags & SHARED_TEXEL_FLAGS != 0 || self.coherent.contains(&image);
                let is_volatile = self.has_volatile || flags & image_operands::VOLATILE_TEXEL != 0;
                is_coherent && (is_volatile || self.written.contains(&self.pointers, image))
            }
            opcode if is_atomic_read(opcode) => self.pointers.is_shared(inst.pointer()),
            _ => false,
        }
    }

    /// Loads of any kind from memory that the module writes and other invocations can write.
    pub(super) fn loads(&self, inst: &Inst<'_>) -> bool {
        match inst.opcode() {
            op::Load => {}
            op::ImageRead | op::ImageSparseRead => {
                let image = inst.image();
                return self.is_storage_image(image)
                    && self.written.contains(&self.pointers, self.pointers.handle(image));
            }
            _ => return false,
        }
        let pointer = inst.pointer();
        if !self.written.contains(&self.pointers, pointer) {
            return false;
        }
        let class = self.pointers.index.storage_class(self.pointers.index.type_of(pointer));
        match class {
            Some(storage_class::Workgroup | storage_class::PhysicalStorageBuffer) => return true,
            Some(storage_class::StorageBuffer | storage_class::Uniform) => {}
            _ => return false,
        }
        let variable = self.pointers.base(pointer);
        let block = self.pointers.index.under_arrays(self.pointers.pointee(variable));
        let is_uniform = class == Some(storage_class::Uniform)
            && self.pointers.index.decoration(block, decoration::BufferBlock).is_none();
        !is_uniform && !self.read_only.contains(&variable) && !self.read_only.contains(&block)
    }

    /// Whether other invocations may write an image. `OpImageRead` also reads input attachments, which they cannot.
    fn is_storage_image(&self, image: Id) -> bool {
        let variable = self.pointers.base(self.pointers.handle(image));
        let is_attachment = |ty: Inst<'_>| ty.opcode() == op::TypeImage && ty.image_dim() == SUBPASS_DATA;
        !self.read_only.contains(&variable)
            && !self
                .pointers
                .index
                .def(self.pointers.index.type_of(image))
                .is_some_and(is_attachment)
    }
}
