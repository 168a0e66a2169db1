//! Pointers into a record, and its header. Every field is at a constant offset from the record's address.

use super::state::Runtime;
use vkabort_record::layout::{UNIT_BYTES, UNIT_WORDS, header};
use vkabort_record::site::{CodeHash, ModuleHash};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::memory_operands::VOLATILE;
use vkabort_spirv::{Id, Literal, op};

/// Header fields that the code which reserves a record knows.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Units of the record.
    pub units: Id,
    /// Bytes of payload.
    pub size: Id,
    pub site: Id,
}

impl Runtime {
    /// Pointer to the record at unit `unit`, as an array of units.
    pub fn record(&mut self, out: &mut Emitter, unit: Id) -> Id {
        let ty = self.types(out).units_pointer;
        let shift = out.constant(UNIT_BYTES.ilog2());
        let bytes = out.calculate(op::ShiftLeftLogical, (unit, shift));
        let end = u64::from(self.arena.capacity) * u64::from(UNIT_BYTES);
        self.pointer_behind(out, ty, self.arena.records, bytes, end)
    }

    /// Stores unit `number` of a record; `record` is from [`Runtime::record`].
    pub fn store_unit(&mut self, out: &mut Emitter, record: Id, number: u32, value: Id) {
        if self.scalar_stores {
            let uint = out.uint();
            let words = [(); UNIT_WORDS as usize].map(|()| out.fresh());
            for (index, word) in (0..).zip(words) {
                out.op(op::CompositeExtract, (uint, word, value, Literal(index)));
            }
            return self.store_words(out, record, number, words);
        }
        let ty = self.types(out).unit_pointer;
        let [zero, number] = [0, number].map(|value| out.constant(value));
        let pointer = out.emit(op::AccessChain, ty, (record, zero, number));
        out.op(op::Store, (pointer, value, self.access(UNIT_BYTES)));
    }

    /// Pointer to word `word` of a record; `record` is from [`Runtime::record`].
    pub fn record_word(&mut self, out: &mut Emitter, record: Id, word: u32) -> Id {
        let ty = self.types(out).uint_pointer;
        let path = [0, word / UNIT_WORDS, word % UNIT_WORDS].map(|index| out.constant(index));
        out.emit(op::AccessChain, ty, (record, path))
    }

    /// Stores the first unit of a header, with COMMIT still 0.
    pub fn store_extent(&mut self, out: &mut Emitter, record: Id, extent: Extent) {
        const _: () = assert!(header::COMMIT == 0 && header::LENGTH == 1 && header::SIZE == 2 && header::SITE == 3);
        let zero = out.constant(0);
        let Extent { units, size, site } = extent;
        self.store_words(out, record, 0, [zero, units, size, site]);
    }

    /// Stores the rest of a header.
    pub(crate) fn store_origin(&mut self, out: &mut Emitter, record: Id, stage: Id, identity: Id) {
        const _: () = assert!(header::HASH_LO == UNIT_WORDS && header::HASH_HI == UNIT_WORDS + 1);
        const _: () = assert!(header::STAGE == UNIT_WORDS + 2 && header::SPECIALIZATION == UNIT_WORDS + 3);
        const _: () = assert!(header::IDENTITY == 2 * UNIT_WORDS);
        let CodeHash(ModuleHash(hash)) = self.code;
        let [low, high] = [hash as u32, (hash >> 32) as u32].map(|value| out.constant(value));
        let specialization = self.specialization(out);
        self.store_words(out, record, 1, [low, high, stage, specialization]);
        self.store_unit(out, record, header::IDENTITY / UNIT_WORDS, identity);
    }

    /// Stores word `index` of a record.
    pub(super) fn store_word(&mut self, out: &mut Emitter, record: Id, index: u32, word: Id) {
        let pointer = self.record_word(out, record, index);
        self.store_alone(out, pointer, word);
    }

    /// Stores a word by itself: compilers do not combine it with others.
    pub fn store_alone(&self, out: &mut Emitter, pointer: Id, word: Id) {
        let [memory, alignment] = self.access(4);
        out.op(op::Store, (pointer, word, [Literal(memory.0 | VOLATILE), alignment]));
    }

    /// Stores four words as unit `number` of a record.
    pub fn store_words(&mut self, out: &mut Emitter, record: Id, number: u32, words: [Id; UNIT_WORDS as usize]) {
        if self.scalar_stores {
            for (index, word) in (0..).zip(words) {
                self.store_word(out, record, number * UNIT_WORDS + index, word);
            }
            return;
        }
        let unit = self.types(out).unit;
        let value = out.emit(op::CompositeConstruct, unit, words);
        self.store_unit(out, record, number, value);
    }
}
