//! The functions that write the records of prints, one for each number of words of arguments.
//!
//! ```text
//! void vkabort_print1(uint number, uint dropped, uint word)          dropped: low word of the address of the site's counter
//!     chunk = chunks + (atomicLoad(current) & (CHUNKS - 1)) * SIZE * SLOT_BYTES
//!     has_room = atomicLoad(chunk) < SIZE                                CURSOR is at the start of the chunk
//!     at = atomicAdd(has_room ? chunk : dropped, has_room ? SLOTS : 1)
//!     if (has_room) {
//!         if (at <= SIZE - SLOTS) {
//!             0, number, the invocation and word, at chunk + at * SLOT_BYTES; barrier; COMMIT
//!         } else atomicAdd(dropped | at >> 31, 1)
//!     }
//! ```
//!
//! The load in front of the addition keeps a cursor from wrapping, and a storm of prints off it once the chunk is full. See
//! `vkabort_record::print::layout`.
//!
//! If an atomic's address is the same in a subgroup, compilers for GPUs execute it once for all its invocations, which takes 10 to 30
//! instructions. So the code has one such addition, which reserves or counts. The other one is for the few invocations that find out too late that the
//! chunk is full: `at >> 31` is 0, which compilers do not know, so they execute that addition for each.

use super::arguments::Part;
use super::identity::InvocationIdentity;
use std::mem;
use vkabort_options::PrintNumbers;
use vkabort_options::{Options, Prints};
use vkabort_record::layout::{UNIT_BYTES, UNIT_WORDS};
use vkabort_record::print::layout::{
    CHUNKS, CONTROL_BYTES, CURRENT_OFFSET, DROPPED_OFFSET, SHARED_COUNTER, SLOT_BYTES, chunk_slots, commit_word,
    header, record_slots,
};
use vkabort_record::site::{CodeHash, PrintSite};
use vkabort_runtime::{Runtime, block_pointer};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::{Code, Id, Inst, Literal, op};

/// Inputs of the lowering of prints besides the module.
pub struct PrintInputs<'a> {
    pub options: &'a Options,
    pub prints: &'a Prints,
    /// The prints of the application's module.
    pub sites: &'a [PrintSite],
    /// The hash in records.
    pub code: CodeHash,
    /// The numbers and counters of the sites.
    pub numbers: PrintNumbers,
    /// The execution model of all entry points. `None`: records have it.
    pub execution_model: Option<u32>,
    /// Words of IDENTITY in records.
    pub identity_words: u32,
    /// The workgroup sizes of the entry points that are constant.
    pub workgroup_sizes: &'a [Option<[u32; 3]>],
    /// The word of the application's module that an instruction comes from.
    pub origin: &'a dyn Fn(usize) -> Option<u32>,
}

pub(super) struct PrintWriter {
    runtime: Runtime,
    prints: Prints,
    numbers: PrintNumbers,
    identity_words: u32,
    /// By the number of words of the payload.
    writers: Vec<(u32, Id)>,
}

impl PrintWriter {
    pub(super) fn new(index: &Index<'_>, inputs: &PrintInputs<'_>) -> Self {
        Self {
            runtime: Runtime::new(index, inputs.options, inputs.code, false),
            prints: inputs.prints.clone(),
            numbers: inputs.numbers,
            identity_words: inputs.identity_words,
            writers: Vec::new(),
        }
    }

    /// The functions written so far.
    pub(super) fn functions(&self) -> &Code {
        &self.runtime.functions
    }

    /// Words of a payload in the unit where the header ends.
    pub(super) fn head(&self) -> u32 {
        let header = header::IDENTITY + self.identity_words;
        header.next_multiple_of(UNIT_WORDS) - header
    }

    /// Writes the call in place of a print, with its result id.
    pub(super) fn call<'w>(
        &mut self,
        index: &Index<'w>,
        out: &mut Emitter,
        identity: &mut InvocationIdentity<'w>,
        (print, site): (&Inst<'_>, usize),
        payload: &[Part],
    ) {
        let words = payload.iter().map(|part| part.words).sum();
        let writer = match self.writers.iter().find(|(count, _)| *count == words) {
            Some((_, writer)) => *writer,
            None => self.write_function(index, out, identity, payload, words),
        };
        let site = site as u32;
        let counter = self
            .numbers
            .counter
            .map_or(SHARED_COUNTER, |first| first.saturating_add(site));
        let number = out.constant(self.numbers.first.wrapping_add(site));
        let dropped = DROPPED_OFFSET + 4 * counter.min(SHARED_COUNTER);
        let dropped = out.constant((self.prints.address as u32).wrapping_add(dropped));
        let (void, values) = (out.void(), Vec::from_iter(payload.iter().map(|part| part.value)));
        out.op(
            op::FunctionCall,
            (void, print.result(), writer, (number, dropped), values.as_slice()),
        );
    }

    /// Writes the function for a payload of `words` words, divided like `payload`.
    fn write_function<'w>(
        &mut self,
        index: &Index<'w>,
        out: &mut Emitter,
        identity: &mut InvocationIdentity<'w>,
        payload: &[Part],
        words: u32,
    ) -> Id {
        let (void, uint) = (out.void(), out.uint());
        let mut types = vec![uint, uint];
        types.extend(payload.iter().map(|part| out.words_type(part.words)));
        let name = format!("vkabort_print{words}");
        let mut functions = mem::take(&mut self.runtime.functions);
        let function = out.function(&mut functions, &name, (void, &types), |out, _, parameters| {
            let (number, dropped, values) = match parameters {
                [number, dropped, values @ ..] => (*number, *dropped, values),
                _ => (Id::NONE, Id::NONE, [].as_slice()),
            };
            let payload = payload.iter().zip(values);
            let payload = payload.map(|(part, value)| Part { value: *value, ..*part });
            let payload: Vec<Part> = payload.collect();
            let slots = record_slots(self.identity_words + words);
            let [has_room, is_inside, low, at] = self.reserve(out, slots, dropped);
            let [reserved, write, late, end, merge] = [(); 5].map(|()| out.fresh());
            out.branch_if(has_room, reserved, merge, merge);
            out.label(reserved);
            out.branch_if(is_inside, write, late, end);
            out.label(late);
            let [sign, scope, relaxed, one] = [31, self.runtime.scope, 0, 1].map(|value| out.constant(value));
            let zero = out.calculate(op::ShiftRightLogical, (at, sign));
            let counter = out.calculate(op::BitwiseOr, (dropped, zero));
            let ty = self.word_pointer(out);
            let counter = self.pointer(out, ty, counter);
            out.calculate(op::AtomicIAdd, (counter, scope, relaxed, one));
            out.branch(end);
            out.label(write);
            let mut header = vec![out.constant(0), number];
            let words = identity.load_words(index, out);
            const _: () = assert!(header::COMMIT == 0 && header::NUMBER == 1 && header::IDENTITY == 2);
            header.extend((0..self.identity_words).map(|at| out.calculate(op::CompositeExtract, (words, Literal(at)))));
            self.write_record(out, low, header, &payload);
            out.branch(end);
            out.label(end);
            out.branch(merge);
            out.label(merge);
            None
        });
        self.runtime.functions = functions;
        self.writers.push((words, function));
        function
    }

    /// Reserves `slots` slots or counts a print. Returns whether the cursor was inside the chunk, and whether the slots are; the low word of
    /// their address; and the first slot, or a count.
    fn reserve(&mut self, out: &mut Emitter, slots: u32, dropped: Id) -> [Id; 4] {
        let (uint, bool) = (out.uint(), out.bool());
        let ty = self.word_pointer(out);
        let size = chunk_slots(self.prints.bytes);
        // A chunk that is shorter than a record has no room.
        let (size, last) = size.checked_sub(slots).map_or((0, 0), |last| (size, last));
        let [scope, relaxed, one] = [self.runtime.scope, 0, 1].map(|value| out.constant(value));
        let [size, last, reserved, shift] = [size, last, slots, SLOT_BYTES.ilog2()].map(|value| out.constant(value));
        let [mask, chunk_bytes, start] = [
            CHUNKS - 1,
            chunk_slots(self.prints.bytes) * SLOT_BYTES,
            (self.prints.address as u32).wrapping_add(CONTROL_BYTES),
        ]
        .map(|value| out.constant(value));
        let current = self.prints.address + u64::from(CURRENT_OFFSET);
        let current = self.runtime.pointer_to(out, ty, current);
        let number = out.calculate(op::AtomicLoad, (current, scope, relaxed));
        // Whatever a program has stored there by mistake, prints stay in the area.
        let number = out.calculate(op::BitwiseAnd, (number, mask));
        let offset = out.calculate(op::IMul, (number, chunk_bytes));
        let chunk = out.calculate(op::IAdd, (offset, start));
        let cursor = self.pointer(out, ty, chunk);
        let now = out.calculate(op::AtomicLoad, (cursor, scope, relaxed));
        let has_room = out.emit(op::ULessThan, bool, (now, size));
        let low = out.emit(op::Select, uint, (has_room, chunk, dropped));
        let count = match slots {
            1 => one,
            _ => out.emit(op::Select, uint, (has_room, reserved, one)),
        };
        let word = self.pointer(out, ty, low);
        let at = out.calculate(op::AtomicIAdd, (word, scope, relaxed, count));
        let is_inside = out.emit(op::ULessThanEqual, bool, (at, last));
        let offset = out.calculate(op::ShiftLeftLogical, (at, shift));
        [has_room, is_inside, out.calculate(op::IAdd, (chunk, offset)), at]
    }

    /// Writes and commits the record at the address with the low word `low`.
    fn write_record(&self, out: &mut Emitter, low: Id, header: Vec<Id>, payload: &[Part]) {
        let (mut words, mut units, mut payload) = (header, Vec::new(), payload.iter());
        if self.head() > 0 {
            words.extend(payload.next().map(|part| part.split(out)).unwrap_or_default());
        }
        units.extend(words.chunks(UNIT_WORDS as usize).map(|words| Part::new(words, out)));
        units.extend(payload);
        let types: Vec<Id> = units.iter().map(|unit| out.words_type(unit.words)).collect();
        let offsets: Vec<u32> = (0..).zip(&types).map(|(unit, _)| unit * UNIT_BYTES).collect();
        let ty = block_pointer(out, &types, &offsets);
        let record = self.pointer(out, ty, low);
        let ty = self.word_pointer(out);
        for (at, (unit, of_unit)) in (0..).zip(units.iter().zip(types)) {
            if self.runtime.scalar_stores && unit.words > 1 {
                // COMMIT is 0 already.
                for (word, value) in (0..).zip(unit.split(out)).skip(usize::from(at == 0)) {
                    let path = [at, word].map(|index| out.constant(index));
                    let pointer = out.emit(op::AccessChain, ty, (record, path));
                    self.runtime.store_alone(out, pointer, value);
                }
                continue;
            }
            let ty = out.physical_pointer(of_unit);
            let index = out.constant(at);
            let pointer = out.emit(op::AccessChain, ty, (record, index));
            out.op(op::Store, (pointer, unit.value, self.runtime.access(UNIT_BYTES)));
        }
        let path = [0, header::COMMIT].map(|index| out.constant(index));
        let commit = out.emit(op::AccessChain, ty, (record, path));
        // `commit_word` is the sum of a constant and the byte offset.
        let start = (self.prints.address as u32).wrapping_add(CONTROL_BYTES);
        let [scope, relaxed, difference] =
            [self.runtime.scope, 0, commit_word(0).wrapping_sub(start)].map(|value| out.constant(value));
        let value = out.calculate(op::IAdd, (low, difference));
        self.runtime.barrier(out);
        out.op(op::AtomicStore, (commit, scope, relaxed, value));
    }

    /// A pointer to the address with the low word `low` in the print area.
    fn pointer(&self, out: &mut Emitter, ty: Id, low: Id) -> Id {
        let Prints { address, bytes, .. } = self.prints;
        self.runtime.pointer_inside(out, ty, address, low, bytes.into())
    }

    fn word_pointer(&self, out: &mut Emitter) -> Id {
        let uint = out.uint();
        out.physical_pointer(uint)
    }
}
