//! The few functions that instrumented modules share: reserving a record, committing it, writing bytes, polling. Each is
//! made when something first asks for it.
//!
//! ```text
//! uint reserve(uint units, uint size, uint site)     -> unit offset of the record, NO_RECORD if there is no room
//!     if (atomicLoad(cursor) < capacity) {
//!         unit = atomicAdd(cursor, units <= capacity ? units : 0)
//!         if (units <= capacity && unit <= capacity - units) { write LENGTH and the header; return unit }
//!         atomicAdd(dropped, 1); aborted = 1
//!     }
//!     return NO_RECORD
//! void commit(uint unit)                              make the record available; COMMIT; ABORTED
//! void put_bytes(uint at, uint value, uint mask)      bytes at any byte offset of the record area
//! bool poll()                                         has any invocation aborted?
//! ```
//!
//! The load before the add keeps a storm of aborts off the atomic once the arena is full, and the cursor from wrapping: it
//! passes the capacity by at most one record per invocation in flight. A message whose length is computed and that is too
//! large takes no room, so that it costs nobody else's.

use super::Runtime;
use super::trap;
use crate::edit::globals::Globals;
use crate::spv::op::memory_semantics::{ACQUIRE_RELEASE, MAKE_AVAILABLE, RELEASE, UNIFORM_MEMORY};
use crate::spv::{Code, Id, op};
use smallvec::SmallVec;
use vkabort_record::layout::{COMMIT_MAGIC, CURSOR_OFFSET, UNIT_BYTES, UNIT_WORDS, header, record_units};

/// What `reserve` returns when there is no room.
pub(crate) const NO_RECORD: u32 = u32::MAX;

/// A function that has been begun. One at a time can be.
struct Begun {
    /// The functions made so far, and what there is of this one.
    code: Code,
    function: Id,
    parameters: SmallVec<[Id; 4]>,
    /// Label of its first block, which is open.
    block: Id,
}

impl Runtime {
    fn begin(&mut self, globals: &mut Globals, name: &str, result: Id, parameters: &[Id]) -> Begun {
        let ty = globals.function_type(result, parameters);
        let function = globals.fresh();
        globals.name(function, name);
        let mut code = std::mem::take(&mut self.functions);
        code.op(op::Function, &[result, function, 0, ty]);
        let mut names = SmallVec::new();
        for parameter in parameters {
            let name = globals.fresh();
            code.op(op::FunctionParameter, &[*parameter, name]);
            names.push(name);
        }
        let block = globals.fresh();
        code.label(block);
        Begun {
            code,
            function,
            parameters: names,
            block,
        }
    }

    fn end(&mut self, mut code: Code) {
        code.op(op::FunctionEnd, &[]);
        debug_assert!(
            self.functions.words.is_empty(),
            "another function was begun in this one"
        );
        self.functions = code;
    }

    pub(crate) fn reserve(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.reserve {
            return function;
        }
        let (uint, bool) = (globals.uint(), globals.bool());
        let views = self.views(globals);
        let Begun {
            mut code,
            function,
            parameters,
            ..
        } = self.begin(globals, "vkabort_reserve", uint, &[uint; 3]);
        self.reserve = Some(function);
        let [units, size, site] = [0, 1, 2].map(|i| parameters.get(i).copied().unwrap_or(0));
        let constant = |globals: &mut Globals, value| globals.constant(value);
        let device = constant(globals, self.scope);
        let relaxed = constant(globals, 0);
        let capacity = constant(globals, self.arena.capacity);
        let none = constant(globals, NO_RECORD);
        let cursor = self.address(
            &mut code,
            globals,
            views.uint_pointer,
            self.arena.control + u64::from(CURSOR_OFFSET),
        );
        let [
            now,
            room,
            try_it,
            out,
            unit,
            fits,
            taken,
            least,
            last,
            within,
            write,
            full,
            old,
        ] = [(); 13].map(|()| globals.fresh());
        code.op(op::AtomicLoad, &[uint, now, cursor, device, relaxed]);
        code.op(op::ULessThan, &[bool, room, now, capacity]);
        code.branch_if(room, try_it, out, out);

        code.label(try_it);
        code.op(op::ULessThanEqual, &[bool, fits, units, capacity]);
        code.op(op::Select, &[uint, taken, fits, units, relaxed]);
        code.op(op::AtomicIAdd, &[uint, unit, cursor, device, relaxed, taken]);
        code.op(op::ISub, &[uint, last, capacity, units]);
        code.op(op::ULessThanEqual, &[bool, least, unit, last]);
        code.op(op::LogicalAnd, &[bool, within, fits, least]);
        code.branch_if(within, write, full, full);

        code.label(write);
        let base = self.units(&mut code, globals);
        let zero = constant(globals, 0);
        let low = constant(globals, self.hash.0 as u32);
        let high = constant(globals, (self.hash.0 >> 32) as u32);
        let stage = self.stage(globals);
        let identity = self.identity(globals);
        let (stage_value, identity_value) = (globals.fresh(), globals.fresh());
        code.op(op::Load, &[uint, stage_value, stage]);
        code.op(op::Load, &[views.unit_type, identity_value, identity]);
        let mut first = [0; UNIT_WORDS as usize];
        let mut second = first;
        for (word, value) in [
            (header::COMMIT, zero),
            (header::LENGTH, units),
            (header::SIZE, size),
            (header::SITE, site),
            (header::HASH_LO, low),
            (header::HASH_HI, high),
            (header::STAGE, stage_value),
            (header::STAGE + 1, zero),
        ] {
            let half = if word < UNIT_WORDS { &mut first } else { &mut second };
            if let Some(slot) = half.get_mut((word % UNIT_WORDS) as usize) {
                *slot = value;
            }
        }
        for (number, part) in [first, second].iter().enumerate() {
            let value = globals.fresh();
            code.op2(op::CompositeConstruct, &[views.unit_type, value], part);
            let pointer = self.unit_pointer(&mut code, globals, base, unit, number as u32);
            code.op2(op::Store, &[pointer, value], &self.access(UNIT_BYTES));
        }
        let pointer = self.unit_pointer(&mut code, globals, base, unit, header::IDENTITY / UNIT_WORDS);
        code.op2(op::Store, &[pointer, identity_value], &self.access(UNIT_BYTES));
        code.op(op::ReturnValue, &[unit]);

        code.label(full);
        let one = constant(globals, 1);
        let dropped = self.control(&mut code, globals, 1);
        code.op(op::AtomicIAdd, &[uint, old, dropped, device, relaxed, one]);
        self.set_aborted(&mut code, globals, [device, relaxed, one]);
        code.branch(out);

        code.label(out);
        code.op(op::ReturnValue, &[none]);
        self.end(code);
        function
    }

    pub(crate) fn commit(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.commit {
            return function;
        }
        let (uint, void) = (globals.uint(), globals.void());
        let Begun {
            mut code,
            function,
            parameters,
            block,
        } = self.begin(globals, "vkabort_commit", void, &[uint]);
        self.commit = Some(function);
        let record = parameters.first().copied().unwrap_or(0);
        let device = globals.constant(self.scope);
        let available = if self.vulkan_memory_model { MAKE_AVAILABLE } else { 0 };
        let release = if self.memory_barriers {
            RELEASE | UNIFORM_MEMORY | available
        } else {
            0
        };
        let release = globals.constant(release);
        let words = self.words(&mut code, globals);
        let (magic, four, one) = (
            globals.constant(COMMIT_MAGIC),
            globals.constant(UNIT_WORDS),
            globals.constant(1),
        );
        let [at, value] = [(); 2].map(|()| globals.fresh());
        if self.memory_barriers {
            self.barrier(&mut code, globals);
        }
        code.op(op::IMul, &[uint, at, record, four]);
        let pointer = self.word_pointer(&mut code, globals, words, at);
        code.op(op::IAdd, &[uint, value, record, magic]);
        code.op(op::AtomicStore, &[pointer, device, release, value]);
        self.set_aborted(&mut code, globals, [device, release, one]);
        trap::spring(self.trap, self, &mut code, globals, block);
        code.op(op::Return, &[]);
        self.end(code);
        function
    }

    /// What the invocation has written is available before anything that it writes from here on.
    pub(in crate::pass::abort) fn barrier(&self, code: &mut Code, globals: &mut Globals) {
        let available = if self.vulkan_memory_model { MAKE_AVAILABLE } else { 0 };
        let device = globals.constant(self.scope);
        let semantics = globals.constant(ACQUIRE_RELEASE | UNIFORM_MEMORY | available);
        code.op(op::MemoryBarrier, &[device, semantics]);
    }

    /// Writes the bytes of `value` that `mask` covers at byte `at` of the record area: the words there are the
    /// invocation's own, so reading and writing them back is safe.
    pub(crate) fn put_bytes(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.put_bytes {
            return function;
        }
        let (uint, void, bool) = (globals.uint(), globals.void(), globals.bool());
        let Begun {
            mut code,
            function,
            parameters,
            ..
        } = self.begin(globals, "vkabort_put_bytes", void, &[uint; 3]);
        self.put_bytes = Some(function);
        let [at, value, mask] = [0, 1, 2].map(|i| parameters.get(i).copied().unwrap_or(0));
        let [zero, one, two, three, top] = [0, 1, 2, 3, 32].map(|v| globals.constant(v));
        let words = self.words(&mut code, globals);
        let [
            word,
            byte,
            shift,
            low,
            low_mask,
            back,
            rest,
            rest_mask,
            spills,
            more,
            out,
            next,
        ] = [(); 12].map(|()| globals.fresh());
        code.op(op::ShiftRightLogical, &[uint, word, at, two]);
        code.op(op::BitwiseAnd, &[uint, byte, at, three]);
        code.op(op::ShiftLeftLogical, &[uint, shift, byte, three]);
        code.op(op::ShiftLeftLogical, &[uint, low, value, shift]);
        code.op(op::ShiftLeftLogical, &[uint, low_mask, mask, shift]);
        let pointer = self.word_pointer(&mut code, globals, words, word);
        self.merge_word(&mut code, globals, pointer, low, low_mask);
        // What does not fit: a shift by 32 is undefined, so none is made where nothing is shifted.
        code.op(op::INotEqual, &[bool, spills, shift, zero]);
        let out_of_word = globals.fresh();
        code.branch_if(spills, more, out, out);
        code.label(more);
        code.op(op::ISub, &[uint, back, top, shift]);
        code.op(op::ShiftRightLogical, &[uint, rest, value, back]);
        code.op(op::ShiftRightLogical, &[uint, rest_mask, mask, back]);
        code.op(op::INotEqual, &[bool, out_of_word, rest_mask, zero]);
        let (write, end) = (globals.fresh(), globals.fresh());
        code.branch_if(out_of_word, write, end, end);
        code.label(write);
        code.op(op::IAdd, &[uint, next, word, one]);
        let pointer = self.word_pointer(&mut code, globals, words, next);
        self.merge_word(&mut code, globals, pointer, rest, rest_mask);
        code.branch(end);
        code.label(end);
        code.branch(out);
        code.label(out);
        code.op(op::Return, &[]);
        self.end(code);
        function
    }

    /// `*pointer = *pointer & ~mask | value`, `value` being 0 outside `mask`.
    pub(crate) fn merge_word(&self, code: &mut Code, globals: &mut Globals, pointer: Id, value: Id, mask: Id) {
        let uint = globals.uint();
        let [old, keep, kept, new] = [(); 4].map(|()| globals.fresh());
        code.op2(op::Load, &[uint, old, pointer], &self.access(4));
        code.op(op::Not, &[uint, keep, mask]);
        code.op(op::BitwiseAnd, &[uint, kept, old, keep]);
        code.op(op::BitwiseOr, &[uint, new, kept, value]);
        code.op2(op::Store, &[pointer, new], &self.access(4));
    }

    pub(crate) fn poll(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.poll {
            return function;
        }
        let (uint, bool) = (globals.uint(), globals.bool());
        let Begun { mut code, function, .. } = self.begin(globals, "vkabort_poll", bool, &[]);
        self.poll = Some(function);
        let (device, zero) = (globals.constant(self.scope), globals.constant(0));
        let word = self.control(&mut code, globals, 0);
        let (aborted, answer) = (globals.fresh(), globals.fresh());
        code.op(op::AtomicLoad, &[uint, aborted, word, device, zero]);
        code.op(op::INotEqual, &[bool, answer, aborted, zero]);
        code.op(op::ReturnValue, &[answer]);
        self.end(code);
        function
    }
}

const _: () = assert!(record_units(0) * UNIT_WORDS == header::WORDS);
