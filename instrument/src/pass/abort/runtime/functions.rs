//! Writes the other shared functions.
//!
//! ```text
//! void vkabort_commit(uint unit)                              makes the record available, then sets COMMIT and ABORTED
//! void vkabort_put_bytes(uint at, uint value, uint mask)      writes bytes at any byte offset of the record area
//! bool vkabort_poll()                                         whether any invocation has aborted
//! ```

use super::arena::ABORTED;
use super::open_function::OpenFunction;
use super::state::Runtime;
use super::trap;
use crate::edit::globals::Globals;
use crate::spv::op::memory_semantics::{ACQUIRE_RELEASE, MAKE_AVAILABLE, UNIFORM_MEMORY};
use crate::spv::{Code, Id, op};
use vkabort_record::layout::{COMMIT_MAGIC, header};

impl Runtime {
    /// The function `commit`.
    pub(crate) fn commit(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.commit {
            return function;
        }
        let (uint, void) = (globals.uint(), globals.void());
        let OpenFunction {
            mut code,
            function,
            parameters: [record],
            block,
        } = self.begin_function(globals, "vkabort_commit", void, [uint]);
        self.commit = Some(function);
        let [scope, relaxed, magic, one] = [self.scope, 0, COMMIT_MAGIC, 1].map(|value| globals.constant(value));
        let value = globals.fresh();
        let base = self.record(&mut code, globals, record);
        let pointer = self.record_word(&mut code, globals, base, header::COMMIT);
        // One barrier for all three words: with release semantics, each would have its own.
        if self.memory_barriers {
            self.barrier(&mut code, globals);
        }
        code.op(op::IAdd, (uint, value, record, magic));
        code.op(op::AtomicStore, (pointer, scope, relaxed, value));
        self.set_aborted(&mut code, globals, [scope, relaxed, one]);
        trap::write_trap(self, &mut code, globals, block);
        code.op(op::Return, ());
        self.end_function(code);
        function
    }

    /// Makes the invocation's earlier writes to the arena available before its later ones.
    pub(super) fn barrier(&self, code: &mut Code, globals: &mut Globals) {
        let make_available = if self.uses_vulkan_memory_model {
            MAKE_AVAILABLE
        } else {
            0
        };
        let semantics = ACQUIRE_RELEASE | UNIFORM_MEMORY | make_available;
        let [scope, semantics] = [self.scope, semantics].map(|value| globals.constant(value));
        code.op(op::MemoryBarrier, (scope, semantics));
    }

    /// The function `put_bytes`: writes the bytes of `value` that `mask` covers at byte `at` of the record area. It reads
    /// and writes back whole words, which is safe because the record belongs to the invocation.
    pub(crate) fn put_bytes(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.put_bytes {
            return function;
        }
        let (uint, void, bool) = (globals.uint(), globals.void(), globals.bool());
        let OpenFunction {
            mut code,
            function,
            parameters: [at, value, mask],
            ..
        } = self.begin_function(globals, "vkabort_put_bytes", void, [uint; 3]);
        self.put_bytes = Some(function);
        let [zero, one, two, three, word_bits] = [0, 1, 2, 3, 32].map(|value| globals.constant(value));
        let words = self.words(&mut code, globals);
        let [word, byte, shift, low, low_mask, back, high, high_mask] = [(); 8].map(|()| globals.fresh());
        let [is_shifted, shifted, exit, next] = [(); 4].map(|()| globals.fresh());
        // The bytes in the first word.
        code.op(op::ShiftRightLogical, (uint, word, at, two));
        code.op(op::BitwiseAnd, (uint, byte, at, three));
        code.op(op::ShiftLeftLogical, (uint, shift, byte, three));
        code.op(op::ShiftLeftLogical, (uint, low, value, shift));
        code.op(op::ShiftLeftLogical, (uint, low_mask, mask, shift));
        let pointer = self.word_pointer(&mut code, globals, words, word);
        self.merge_word(&mut code, globals, pointer, low, low_mask);
        // The bytes in the next word. A shift by 32 is undefined, so none is executed where `shift` is 0.
        code.op(op::INotEqual, (bool, is_shifted, shift, zero));
        let spills = globals.fresh();
        code.branch_if(is_shifted, shifted, exit, exit);
        code.label(shifted);
        code.op(op::ISub, (uint, back, word_bits, shift));
        code.op(op::ShiftRightLogical, (uint, high, value, back));
        code.op(op::ShiftRightLogical, (uint, high_mask, mask, back));
        code.op(op::INotEqual, (bool, spills, high_mask, zero));
        let (write, end) = (globals.fresh(), globals.fresh());
        code.branch_if(spills, write, end, end);
        code.label(write);
        code.op(op::IAdd, (uint, next, word, one));
        let pointer = self.word_pointer(&mut code, globals, words, next);
        self.merge_word(&mut code, globals, pointer, high, high_mask);
        code.branch(end);
        code.label(end);
        code.branch(exit);
        code.label(exit);
        code.op(op::Return, ());
        self.end_function(code);
        function
    }

    /// `*pointer = *pointer & ~mask | value`; `value` is 0 outside `mask`.
    pub(crate) fn merge_word(&self, code: &mut Code, globals: &mut Globals, pointer: Id, value: Id, mask: Id) {
        let uint = globals.uint();
        let [old, inverse, kept, new] = [(); 4].map(|()| globals.fresh());
        code.op(op::Load, (uint, old, pointer, self.access(4)));
        code.op(op::Not, (uint, inverse, mask));
        code.op(op::BitwiseAnd, (uint, kept, old, inverse));
        code.op(op::BitwiseOr, (uint, new, kept, value));
        code.op(op::Store, (pointer, new, self.access(4)));
    }

    /// The function `poll`.
    pub(crate) fn poll(&mut self, globals: &mut Globals) -> Id {
        if let Some(function) = self.poll {
            return function;
        }
        let (uint, bool) = (globals.uint(), globals.bool());
        let OpenFunction { mut code, function, .. } = self.begin_function(globals, "vkabort_poll", bool, []);
        self.poll = Some(function);
        let (scope, zero) = (globals.constant(self.scope), globals.constant(0));
        let pointer = self.control(&mut code, globals, ABORTED);
        let (aborted, is_aborted) = (globals.fresh(), globals.fresh());
        code.op(op::AtomicLoad, (uint, aborted, pointer, scope, zero));
        code.op(op::INotEqual, (bool, is_aborted, aborted, zero));
        code.op(op::ReturnValue, is_aborted);
        self.end_function(code);
        function
    }
}
