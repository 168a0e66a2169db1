//! Loads elements of constant data from a table of its words.

use super::data::ConstantData;
use crate::analysis::index::Index;
use crate::edit::globals::Globals;
use crate::spv::op::memory_operands::{ALIGNED, NON_PRIVATE_POINTER};
use crate::spv::op::{decoration, memory_model, storage_class};
use crate::spv::{Code, Id, Inst, Operands, Words, op};

/// Where the words of a table are.
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
    pub(super) fn in_memory(index: &Index<'_>, globals: &mut Globals, data: &ConstantData<'_>, address: u64) -> Self {
        let uint = globals.uint();
        let words = globals.runtime_array(uint, 4);
        let block = globals.structure(&[words]);
        globals.decorate(block, decoration::Block, &[]);
        globals.decorate_member(block, 0, decoration::Offset, &[0]);
        globals.decorate_member(block, 0, decoration::NonWritable, &[]);
        let block_pointer = globals.pointer(storage_class::PhysicalStorageBuffer, block);
        let uvec2 = globals.vector(uint, 2);
        let halves = [address as u32, (address >> 32) as u32].map(|half| globals.constant(half));
        let address = globals.value(op::ConstantComposite, uvec2, halves);
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
    pub(super) fn in_variable(globals: &mut Globals, data: &ConstantData<'_>) -> (Self, Id) {
        let uint = globals.uint();
        let words: Vec<Id> = data.words().iter().map(|word| globals.constant(*word)).collect();
        let length = globals.constant(words.len() as u32);
        let ty = globals.array(uint, length);
        let words = globals.value(op::ConstantComposite, ty, words.as_slice());
        let variable = globals.private(ty, words);
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
    pub(super) fn look_up(&self, code: &mut Code, globals: &mut Globals, (at, ty): (Id, Option<Inst<'_>>), result: Id) {
        let uint = globals.uint();
        let mut at = match ty.map(|ty| (ty.width(), ty.is_signed_int())) {
            Some((32, false)) | None => at,
            Some((32, true)) => emit(code, globals, op::Bitcast, uint, at),
            Some((_, false)) => emit(code, globals, op::UConvert, uint, at),
            Some((_, true)) => {
                // The result type of OpUConvert must be unsigned; a negative index stays beyond the end.
                emit(code, globals, op::SConvert, uint, at)
            }
        };
        if let Place::Memory { .. } = self.place {
            let (bool, count, zero) = (globals.bool(), globals.constant(self.count), globals.constant(0));
            let is_inside = emit(code, globals, op::ULessThan, bool, (at, count));
            at = emit(code, globals, op::Select, uint, (is_inside, at, zero));
        }
        if self.bytes >= 4 {
            return self.element(code, globals, at, result);
        }
        // Elements in a word are 4 or 2, of 8 or 16 bits.
        let (log, mask, bits_log) = if self.bytes == 1 { (2, 3, 3) } else { (1, 1, 4) };
        let [log, mask, bits_log] = [log, mask, bits_log].map(|value| globals.constant(value));
        let word_at = emit(code, globals, op::ShiftRightLogical, uint, (at, log));
        let word = self.word(code, globals, word_at);
        let number = emit(code, globals, op::BitwiseAnd, uint, (at, mask));
        let shift = emit(code, globals, op::ShiftLeftLogical, uint, (number, bits_log));
        let shifted = emit(code, globals, op::ShiftRightLogical, uint, (word, shift));
        self.narrow(code, shifted, result);
    }

    /// The first `count` elements of the step at `at`, a 32-bit unsigned index.
    pub(super) fn step(&self, code: &mut Code, globals: &mut Globals, at: Id, count: u32) -> Vec<Id> {
        let results: Vec<Id> = (0..count).map(|_| globals.fresh()).collect();
        if self.bytes >= 4 {
            results
                .iter()
                .for_each(|result| self.element(code, globals, at, *result));
            return results;
        }
        let uint = globals.uint();
        let word = self.word(code, globals, at);
        for (number, result) in (0..).zip(&results) {
            let mut shifted = word;
            if number > 0 {
                let shift = globals.constant(number * 8 * self.bytes as u32);
                shifted = emit(code, globals, op::ShiftRightLogical, uint, (word, shift));
            }
            self.narrow(code, shifted, *result);
        }
        results
    }

    /// Defines `result` as element `at` of 32 or 64 bits.
    fn element(&self, code: &mut Code, globals: &mut Globals, at: Id, result: Id) {
        let uint = globals.uint();
        if self.bytes == 8 {
            let [one, uvec2] = [globals.constant(1), globals.vector(uint, 2)];
            let low_at = emit(code, globals, op::ShiftLeftLogical, uint, (at, one));
            let high_at = emit(code, globals, op::IAdd, uint, (low_at, one));
            let low = self.word(code, globals, low_at);
            let high = self.word(code, globals, high_at);
            let both = emit(code, globals, op::CompositeConstruct, uvec2, (low, high));
            code.op(op::Bitcast, (self.ty, result, both));
        } else {
            let word = self.word(code, globals, at);
            let opcode = if self.is_signed { op::Bitcast } else { op::CopyObject };
            code.op(opcode, (self.ty, result, word));
        }
    }

    /// Defines `result` as the low bits of a word.
    fn narrow(&self, code: &mut Code, word: Id, result: Id) {
        // Both truncate; the result type of OpUConvert must be unsigned.
        let convert = if self.is_signed { op::SConvert } else { op::UConvert };
        code.op(convert, (self.ty, result, word));
    }

    fn word(&self, code: &mut Code, globals: &mut Globals, at: Id) -> Id {
        let uint = globals.uint();
        match self.place {
            Place::Variable(variable) => {
                let pointer_type = globals.pointer(storage_class::Private, uint);
                let pointer = emit(code, globals, op::AccessChain, pointer_type, (variable, at));
                emit(code, globals, op::Load, uint, pointer)
            }
            Place::Memory {
                block_pointer,
                address,
                access,
            } => {
                let pointer_type = globals.pointer(storage_class::PhysicalStorageBuffer, uint);
                let zero = globals.constant(0);
                let block = emit(code, globals, op::Bitcast, block_pointer, address);
                let pointer = emit(code, globals, op::AccessChain, pointer_type, (block, zero, at));
                emit(code, globals, op::Load, uint, (pointer, Words(&access)))
            }
        }
    }
}

/// Appends an instruction with a result, and returns the result.
fn emit(code: &mut Code, globals: &mut Globals, opcode: u16, ty: Id, operands: impl Operands) -> Id {
    let result = globals.fresh();
    code.op(opcode, (ty, result, operands));
    result
}
