//! Writes the other shared functions.
//!
//! ```text
//! void vkabort_commit(uint unit)                              makes the record available, then sets COMMIT
//! void vkabort_put_bytes(uint at, uint value, uint mask)      writes bytes at any byte offset of the record area
//! bool vkabort_poll()                                         whether any invocation has aborted
//! ```

use super::arena::{ABORTED, CURSOR};
use super::state::Runtime;
use super::trap;
use vkabort_record::layout::{COMMIT_MAGIC, header};
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::memory_semantics::{MAKE_AVAILABLE, RELEASE, UNIFORM_MEMORY};
use vkabort_spirv::{Id, op};

impl Runtime {
    /// The function `commit`.
    pub(crate) fn commit(&mut self, out: &mut Emitter) -> Id {
        if let Some(function) = self.commit {
            return function;
        }
        let (uint, void) = (out.uint(), out.void());
        let function = self.function(out, "vkabort_commit", (void, [uint]), |runtime, out, block, [unit]| {
            let [scope, relaxed, magic] = [runtime.scope, 0, COMMIT_MAGIC].map(|value| out.constant(value));
            let base = runtime.record(out, unit);
            let pointer = runtime.record_word(out, base, header::COMMIT);
            let commit = out.calculate(op::IAdd, (unit, magic));
            runtime.barrier(out);
            out.op(op::AtomicStore, (pointer, scope, relaxed, commit));
            trap::write_trap(runtime, out, block);
            None
        });
        self.commit = Some(function);
        function
    }

    /// Makes the invocation's earlier writes to the arena available before its later ones. Nothing on CPUs, which keep the order.
    pub fn barrier(&self, out: &mut Emitter) {
        if !self.memory_barriers {
            return;
        }
        let make_available = if self.uses_vulkan_memory_model {
            MAKE_AVAILABLE
        } else {
            0
        };
        let semantics = RELEASE | UNIFORM_MEMORY | make_available;
        let [scope, semantics] = [self.scope, semantics].map(|value| out.constant(value));
        out.op(op::MemoryBarrier, (scope, semantics));
    }

    /// The function `put_bytes`: writes the bytes of `value` that `mask` covers at byte `at` of the record area. It reads
    /// and writes back whole words, which is safe because the record belongs to the invocation.
    pub fn put_bytes(&mut self, out: &mut Emitter) -> Id {
        if let Some(function) = self.put_bytes {
            return function;
        }
        let (uint, void, bool) = (out.uint(), out.void(), out.bool());
        let function = self.function(
            out,
            "vkabort_put_bytes",
            (void, [uint; 3]),
            |runtime, out, _, [at, value, mask]| {
                let [zero, one, two, three, word_bits] = [0, 1, 2, 3, 32].map(|value| out.constant(value));
                let words = runtime.words(out);
                let [word, byte, shift, low, low_mask, back, high, high_mask] = [(); 8].map(|()| out.fresh());
                let [is_shifted, shifted, exit, next] = [(); 4].map(|()| out.fresh());
                // The bytes in the first word.
                out.op(op::ShiftRightLogical, (uint, word, at, two));
                out.op(op::BitwiseAnd, (uint, byte, at, three));
                out.op(op::ShiftLeftLogical, (uint, shift, byte, three));
                out.op(op::ShiftLeftLogical, (uint, low, value, shift));
                out.op(op::ShiftLeftLogical, (uint, low_mask, mask, shift));
                let pointer = runtime.word_pointer(out, words, word);
                runtime.merge_word(out, pointer, low, low_mask);
                // The bytes in the next word. A shift by 32 is undefined, so none is executed where `shift` is 0.
                out.op(op::INotEqual, (bool, is_shifted, shift, zero));
                let spills = out.fresh();
                out.branch_if(is_shifted, shifted, exit, exit);
                out.label(shifted);
                out.op(op::ISub, (uint, back, word_bits, shift));
                out.op(op::ShiftRightLogical, (uint, high, value, back));
                out.op(op::ShiftRightLogical, (uint, high_mask, mask, back));
                out.op(op::INotEqual, (bool, spills, high_mask, zero));
                let (write, end) = (out.fresh(), out.fresh());
                out.branch_if(spills, write, end, end);
                out.label(write);
                out.op(op::IAdd, (uint, next, word, one));
                let pointer = runtime.word_pointer(out, words, next);
                runtime.merge_word(out, pointer, high, high_mask);
                out.branch(end);
                out.label(end);
                out.branch(exit);
                out.label(exit);
                None
            },
        );
        self.put_bytes = Some(function);
        function
    }

    /// `*pointer = *pointer & ~mask | value`; `value` is 0 outside `mask`.
    pub fn merge_word(&self, out: &mut Emitter, pointer: Id, value: Id, mask: Id) {
        let uint = out.uint();
        let [old, inverse, kept, new] = [(); 4].map(|()| out.fresh());
        out.op(op::Load, (uint, old, pointer, self.access(4)));
        out.op(op::Not, (uint, inverse, mask));
        out.op(op::BitwiseAnd, (uint, kept, old, inverse));
        out.op(op::BitwiseOr, (uint, new, kept, value));
        out.op(op::Store, (pointer, new, self.access(4)));
    }

    /// Writes a branch that is never taken, of which compilers do not know that: CURSOR stays below the capacity of the arena and what is
    /// added where there is no room. The block behind it stores what is there.
    pub fn write_branch(&mut self, out: &mut Emitter) {
        let bool = out.bool();
        let [scope, zero, largest] = [self.scope, 0, u32::MAX].map(|value| out.constant(value));
        let pointer = self.control(out, CURSOR);
        let cursor = out.calculate(op::AtomicLoad, (pointer, scope, zero));
        let is_largest = out.emit(op::IEqual, bool, (cursor, largest));
        let [store, end] = [(); 2].map(|()| out.fresh());
        out.branch_if(is_largest, store, end, end);
        out.label(store);
        out.op(op::AtomicStore, (pointer, scope, zero, largest));
        out.branch(end);
        out.label(end);
    }

    /// The function `poll`.
    pub fn poll(&mut self, out: &mut Emitter) -> Id {
        if let Some(function) = self.poll {
            return function;
        }
        let (uint, bool) = (out.uint(), out.bool());
        let function = self.function(out, "vkabort_poll", (bool, []), |runtime, out, _, []| {
            let (scope, zero) = (out.constant(runtime.scope), out.constant(0));
            let [cursor, aborted] = [CURSOR, ABORTED].map(|member| {
                let pointer = runtime.control(out, member);
                out.emit(op::AtomicLoad, uint, (pointer, scope, zero))
            });
            let either = out.calculate(op::BitwiseOr, (cursor, aborted));
            Some(out.emit(op::INotEqual, bool, (either, zero)))
        });
        self.poll = Some(function);
        function
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkabort_options::Options;
    use vkabort_record::site::CodeHash;
    use vkabort_spirv::index::Index;
    use vkabort_spirv::words::Insts;

    #[test]
    fn a_shared_function_is_written_at_its_first_use_alone() {
        let module = [0x0723_0203, 0x1_0500, 0, 1, 0, 3 << 16 | 14, 0, 1];
        let index = Index::new(&module).expect("a memory model");
        let mut out = Emitter::new(&index);
        let mut runtime = Runtime::new(&index, &Options::default(), CodeHash::default(), false);
        let functions = |runtime: &Runtime| {
            let insts = Insts::new(&runtime.functions.words, 0);
            insts.filter(|inst| inst.opcode() == op::Function).count()
        };
        assert_eq!(functions(&runtime), 0);
        let poll = runtime.poll(&mut out);
        assert_eq!((runtime.poll(&mut out), functions(&runtime)), (poll, 1));
        let put_bytes = runtime.put_bytes(&mut out);
        assert_eq!((runtime.put_bytes(&mut out), functions(&runtime)), (put_bytes, 2));
        // The caller's code is not among them.
        assert!(out.take_code().words.is_empty());
    }
}
