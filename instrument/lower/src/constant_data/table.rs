//! Loads elements of constant data from a table of its words.

use super::data::ConstantData;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::memory_operands::{ALIGNED, NON_PRIVATE_POINTER};
use vkabort_spirv::op::{decoration, memory_model, storage_class};
use vkabort_spirv::{Id, Inst, Words, op};

/// Memory that holds the words of a table.
#[derive(Clone, Copy)]
enum Place {
    /// In a Private variable.
    Variable(Id),
    /// In memory.
    Memory {
        /// Type of pointers to a block with a runtime array of words.
        block_pointer: Id,
        /// The address, a `uvec2`.
        address: Id,
        /// Memory operands of a load.
        access: [u32; 2],
    },
}

/// The words of constant data, and the type of its elements.
#[derive(Clone, Copy)]
pub(super) struct Table {
    place: Place,
    /// Type of an element.
    ty: Id,
    is_signed: bool,
    /// Bytes of an element: 1, 2, 4 or 8.
    bytes: usize,
    /// Number of elements.
    count: u32,
}

impl Table {
    /// A table of `data` in memory.
    pub(super) fn in_memory(index: &Index<'_>, out: &mut Emitter, data: &ConstantData<'_>, address: u64) -> Self {
        let uint = out.uint();
        let words = out.runtime_array(uint, 4);
        let block = out.structure(&[words]);
        out.decorate(block, decoration::Block, &[]);
        out.decorate_member(block, 0, decoration::Offset, &[0]);
        out.decorate_member(block, 0, decoration::NonWritable, &[]);
        let block_pointer = out.pointer(storage_class::PhysicalStorageBuffer, block);
        let uvec2 = out.vector(uint, 2);
        let halves = [address as u32, (address >> 32) as u32].map(|half| out.constant(half));
        let address = out.value(op::ConstantComposite, uvec2, halves);
        let model = index.inst(index.sections.memory_model).memory_model();
        let non_private = if model == memory_model::Vulkan {
            NON_PRIVATE_POINTER
        } else {
            0
        };
        Self::new(
            data,
            Place::Memory {
                block_pointer,
                address,
                access: [ALIGNED | non_private, 4],
            },
        )
    }

    /// A table of `data` in a new Private variable, which is returned too.
    pub(super) fn in_variable(out: &mut Emitter, data: &ConstantData<'_>) -> (Self, Id) {
        let uint = out.uint();
        let words: Vec<Id> = data.words().iter().map(|word| out.constant(*word)).collect();
        let length = out.constant(words.len() as u32);
        let ty = out.array(uint, length);
        let words = out.value(op::ConstantComposite, ty, words.as_slice());
        let variable = out.private(ty, words);
        (Self::new(data, Place::Variable(variable)), variable)
    }

    fn new(data: &ConstantData<'_>, place: Place) -> Self {
        Self {
            place,
            ty: data.element.result(),
            is_signed: data.element.is_signed_int(),
            bytes: data.bytes,
            count: data.count as u32,
        }
    }

    pub(super) fn is_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory { .. })
    }

    /// Elements that a step of a copy handles: those of a word, or one of 64 bits.
    pub(super) fn elements_per_step(&self) -> u32 {
        if self.bytes < 4 { 4 / self.bytes as u32 } else { 1 }
    }

    /// Defines `result` as the element at `at`, an index of the type `ty`. In memory, an index beyond the end becomes 0: what is
    /// behind the table must not be read.
    pub(super) fn look_up(&self, out: &mut Emitter, (at, ty): (Id, Option<Inst<'_>>), result: Id) {
        let uint = out.uint();
        let mut at = match ty.map(|ty| (ty.width(), ty.is_signed_int())) {
            Some((32, false)) | None => at,
            Some((32, true)) => out.emit(op::Bitcast, uint, at),
            Some((_, false)) => out.emit(op::UConvert, uint, at),
            Some((_, true)) => {
                // The result type of OpUConvert must be unsigned; a negative index stays beyond the end.
                out.emit(op::SConvert, uint, at)
            }
        };
        if let Place::Memory { .. } = self.place {
            let (bool, count, zero) = (out.bool(), out.constant(self.count), out.constant(0));
            let is_inside = out.emit(op::ULessThan, bool, (at, count));
            at = out.emit(op::Select, uint, (is_inside, at, zero));
        }
        if self.bytes >= 4 {
            return self.element(out, at, result);
        }
        // Elements in a word are 4 or 2, of 8 or 16 bits.
        let (log, mask, bits_log) = if self.bytes == 1 { (2, 3, 3) } else { (1, 1, 4) };
        let [log, mask, bits_log] = [log, mask, bits_log].map(|value| out.constant(value));
        let word_at = out.emit(op::ShiftRightLogical, uint, (at, log));
        let word = self.word(out, word_at);
        let number = out.emit(op::BitwiseAnd, uint, (at, mask));
        let shift = out.emit(op::ShiftLeftLogical, uint, (number, bits_log));
        let shifted = out.emit(op::ShiftRightLogical, uint, (word, shift));
        self.narrow(out, shifted, result);
    }

    /// The first `count` elements of the step at `at`, a 32-bit unsigned index.
    pub(super) fn step(&self, out: &mut Emitter, at: Id, count: u32) -> Vec<Id> {
        let results: Vec<Id> = (0..count).map(|_| out.fresh()).collect();
        if self.bytes >= 4 {
            results.iter().for_each(|result| self.element(out, at, *result));
            return results;
        }
        let uint = out.uint();
        let word = self.word(out, at);
        for (number, result) in (0..).zip(&results) {
            let mut shifted = word;
            if number > 0 {
                let shift = out.constant(number * 8 * self.bytes as u32);
                shifted = out.emit(op::ShiftRightLogical, uint, (word, shift));
            }
            self.narrow(out, shifted, *result);
        }
        results
    }

    /// Defines `result` as element `at` of 32 or 64 bits.
    fn element(&self, out: &mut Emitter, at: Id, result: Id) {
        let uint = out.uint();
        if self.bytes == 8 {
            let [one, uvec2] = [out.constant(1), out.vector(uint, 2)];
            let low_at = out.emit(op::ShiftLeftLogical, uint, (at, one));
            let high_at = out.emit(op::IAdd, uint, (low_at, one));
            let low = self.word(out, low_at);
            let high = self.word(out, high_at);
            let both = out.emit(op::CompositeConstruct, uvec2, (low, high));
            out.op(op::Bitcast, (self.ty, result, both));
        } else {
            let word = self.word(out, at);
            let opcode = if self.is_signed { op::Bitcast } else { op::CopyObject };
            out.op(opcode, (self.ty, result, word));
        }
    }

    /// Defines `result` as the low bits of a word.
    fn narrow(&self, out: &mut Emitter, word: Id, result: Id) {
        // Both truncate; the result type of OpUConvert must be unsigned.
        let convert = if self.is_signed { op::SConvert } else { op::UConvert };
        out.op(convert, (self.ty, result, word));
    }

    fn word(&self, out: &mut Emitter, at: Id) -> Id {
        let uint = out.uint();
        match self.place {
            Place::Variable(variable) => {
                let pointer_type = out.pointer(storage_class::Private, uint);
                let pointer = out.emit(op::AccessChain, pointer_type, (variable, at));
                out.emit(op::Load, uint, pointer)
            }
            Place::Memory {
                block_pointer,
                address,
                access,
            } => {
                let pointer_type = out.pointer(storage_class::PhysicalStorageBuffer, uint);
                let zero = out.constant(0);
                let block = out.emit(op::Bitcast, block_pointer, address);
                let pointer = out.emit(op::AccessChain, pointer_type, (block, zero, at));
                out.emit(op::Load, uint, (pointer, Words(&access)))
            }
        }
    }
}
