//! The functions that write the records of prints, one for each number of units of arguments.
//!
//! ```text
//! uint vkabort_print_reserve(uint units)                     -> unit offset of the record, or NO_RECORD
//!     chunk = atomicLoad(current) & (CHUNKS - 1), unit = NO_RECORD
//!     if (atomicLoad(cursor[chunk]) < capacity) {
//!         at = atomicAdd(cursor[chunk], units)
//!         if (at <= capacity - units) unit = chunk * capacity + at          a selection
//!     }
//!     return unit
//!
//! void vkabort_print1(uint number, uint counter, uvec2 head, uvec4 unit0)
//!     unit = vkabort_print_reserve(units)
//!     if (unit != NO_RECORD) { number, invocation, head and unit0; vkabort_commit(unit) } else atomicAdd(dropped[counter], 1)
//! ```
//!
//! The load in front of the addition keeps a cursor from wrapping, and a storm of prints off it once the chunk is full. See
//! `vkabort_record::print::layout`.

use super::identity::InvocationIdentity;
use crate::analysis::index::Index;
use crate::edit::emitter::Emitter;
use crate::options::{Arena, Options, Prints, Trap};
use crate::outcome::PrintNumbers;
use crate::runtime::{NO_RECORD, OpenFunction, Runtime};
use crate::spv::{Code, Id, Inst, Literal, op};
use std::iter;
use vkabort_record::layout::UNIT_WORDS;
use vkabort_record::print::layout::{
    CHUNKS, CONTROL_BYTES, CURRENT_OFFSET, CURSOR_STRIDE, DROPPED_OFFSET, HEAD_WORDS, SHARED_COUNTER, chunk_units,
    header, record_units,
};
use vkabort_record::site::{CodeHash, PrintSite};

/// What the lowering of prints needs besides the module.
pub(crate) struct PrintInputs<'a> {
    pub(crate) options: &'a Options,
    pub(crate) prints: &'a Prints,
    /// The prints of the application's module.
    pub(crate) sites: &'a [PrintSite],
    /// The hash in records.
    pub(crate) code: CodeHash,
    /// The numbers and counters of the sites.
    pub(crate) numbers: PrintNumbers,
    /// The execution model of all entry points. `None`: records have it.
    pub(crate) execution_model: Option<u32>,
    /// The workgroup sizes of the entry points that are constant.
    pub(crate) workgroup_sizes: &'a [Option<[u32; 3]>],
    /// The word of the application's module that an instruction comes from.
    pub(crate) origin: &'a dyn Fn(usize) -> Option<u32>,
}

pub(super) struct PrintWriter {
    runtime: Runtime,
    address: u64,
    /// Units of a chunk.
    capacity: u32,
    numbers: PrintNumbers,
    reserve: Option<Id>,
    /// By the number of units of arguments.
    writers: Vec<(usize, Id)>,
}

impl PrintWriter {
    pub(super) fn new(index: &Index<'_>, inputs: &PrintInputs<'_>) -> Self {
        let prints = inputs.prints;
        let options = Options {
            arena: Arena {
                control: prints.address,
                records: prints.address.wrapping_add(CONTROL_BYTES.into()),
                capacity: chunk_units(prints.bytes) * CHUNKS,
            },
            trap: Trap::Return,
            compact_records: false,
            ..inputs.options.clone()
        };
        Self {
            runtime: Runtime::new(index, &options, inputs.code, false),
            address: prints.address,
            capacity: chunk_units(prints.bytes),
            numbers: inputs.numbers,
            reserve: None,
            writers: Vec::new(),
        }
    }

    /// The functions written so far.
    pub(super) fn functions(&self) -> &Code {
        &self.runtime.functions
    }

    /// Writes the call in place of a print, with its result id.
    pub(super) fn call<'w>(
        &mut self,
        index: &Index<'w>,
        out: &mut Emitter,
        identity: &mut InvocationIdentity<'w>,
        print: &Inst<'_>,
        site: usize,
        units: &[Id],
    ) {
        let writer = match self.writers.iter().find(|(count, _)| *count == units.len()) {
            Some((_, writer)) => *writer,
            None => self.write_function(index, out, identity, units.len()),
        };
        let site = site as u32;
        let counter = self
            .numbers
            .counter
            .map_or(SHARED_COUNTER, |first| first.saturating_add(site));
        let number = out.constant(self.numbers.first.wrapping_add(site));
        let counter = out.constant(DROPPED_OFFSET + 4 * counter.min(SHARED_COUNTER));
        let void = out.void();
        out.op(
            op::FunctionCall,
            (void, print.result(), writer, (number, counter), units),
        );
    }

    /// `count`: of the head and the units of arguments.
    fn write_function<'w>(
        &mut self,
        index: &Index<'w>,
        out: &mut Emitter,
        identity: &mut InvocationIdentity<'w>,
        count: usize,
    ) -> Id {
        let (void, uint, bool) = (out.void(), out.uint(), out.bool());
        let [head_type, unit_type] = [HEAD_WORDS, UNIT_WORDS].map(|words| out.vector(uint, words));
        let (reserve, commit) = (self.reserve(out), self.runtime.commit(out));
        let others = count.saturating_sub(1);
        let units = record_units(HEAD_WORDS) + others as u32;
        let mut types = vec![uint, uint, head_type];
        types.extend(iter::repeat_n(unit_type, others));
        let OpenFunction {
            outer,
            function,
            parameters,
            ..
        } = self
            .runtime
            .begin_function_of(out, &format!("vkabort_print{others}"), void, &types);
        self.writers.push((count, function));
        let (number, counter, head) = match parameters.as_slice() {
            [number, counter, head, ..] => (*number, *counter, *head),
            _ => (Id::NONE, Id::NONE, Id::NONE),
        };
        let [units, none, zero] = [units, NO_RECORD, 0].map(|value| out.constant(value));
        let unit = out.calculate(op::FunctionCall, (reserve, units));
        let fits = out.emit(op::INotEqual, bool, (unit, none));
        let [write, full, end] = [(); 3].map(|()| out.fresh());
        out.branch_if(fits, write, full, end);
        out.label(write);
        let record = self.runtime.record(out, unit);
        let words = identity.load_words(index, out);
        const _: () = assert!(header::COMMIT == 0 && header::NUMBER == 1 && header::IDENTITY == 2);
        let [x, y, z, w] = [0, 1, 2, 3].map(|at| out.calculate(op::CompositeExtract, (words, Literal(at))));
        self.runtime.store_words(out, record, 0, [zero, number, x, y]);
        let [first, second] = [0, 1].map(|at| out.calculate(op::CompositeExtract, (head, Literal(at))));
        self.runtime.store_words(out, record, 1, [z, w, first, second]);
        for (at, value) in (2..).zip(parameters.iter().skip(3)) {
            self.runtime.store_unit(out, record, at, *value);
        }
        out.emit(op::FunctionCall, void, (commit, unit));
        out.branch(end);
        out.label(full);
        let ty = self.runtime.types(out).uint_pointer;
        let dropped = self.word(out, ty, counter);
        let [scope, relaxed, one] = [self.runtime.scope, 0, 1].map(|value| out.constant(value));
        out.calculate(op::AtomicIAdd, (dropped, scope, relaxed, one));
        out.branch(end);
        out.label(end);
        out.op(op::Return, ());
        self.runtime.end_function(out, outer);
        function
    }

    /// The function `vkabort_print_reserve`.
    fn reserve(&mut self, out: &mut Emitter) -> Id {
        if let Some(function) = self.reserve {
            return function;
        }
        let (uint, bool) = (out.uint(), out.bool());
        let OpenFunction {
            outer,
            function,
            parameters: [units],
            block,
        } = self.runtime.begin_function(out, "vkabort_print_reserve", uint, [uint]);
        self.reserve = Some(function);
        let [scope, relaxed, mask, stride, capacity, none] = [
            self.runtime.scope,
            0,
            CHUNKS - 1,
            CURSOR_STRIDE,
            self.capacity,
            NO_RECORD,
        ]
        .map(|value| out.constant(value));
        let ty = self.runtime.types(out).uint_pointer;
        let current = self
            .runtime
            .pointer_to(out, ty, self.address + u64::from(CURRENT_OFFSET));
        let chunk = out.calculate(op::AtomicLoad, (current, scope, relaxed));
        let chunk = out.calculate(op::BitwiseAnd, (chunk, mask));
        let offset = out.calculate(op::IMul, (chunk, stride));
        let offset = out.calculate(op::IAdd, (offset, stride));
        let cursor = self.word(out, ty, offset);
        let now = out.calculate(op::AtomicLoad, (cursor, scope, relaxed));
        let has_room = out.emit(op::ULessThan, bool, (now, capacity));
        let [attempt, tried, unit] = [(); 3].map(|()| out.fresh());
        out.branch_if(has_room, attempt, tried, tried);
        out.label(attempt);
        let added = out.calculate(op::AtomicIAdd, (cursor, scope, relaxed, units));
        let last = out.calculate(op::ISub, (capacity, units));
        let is_inside = out.emit(op::ULessThanEqual, bool, (added, last));
        let first = out.calculate(op::IMul, (chunk, capacity));
        let found = out.calculate(op::IAdd, (first, added));
        let found = out.calculate(op::Select, (is_inside, found, none));
        out.branch(tried);
        out.label(tried);
        out.phi(uint, unit, &[(none, block), (found, attempt)]);
        out.op(op::ReturnValue, unit);
        self.runtime.end_function(out, outer);
        function
    }

    /// Pointer to the control word at a byte offset.
    fn word(&self, out: &mut Emitter, ty: Id, offset: Id) -> Id {
        self.runtime
            .pointer_behind(out, ty, self.address, offset, u64::from(CONTROL_BYTES))
    }
}
