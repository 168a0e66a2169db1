//! A block of the shadow area (`vkabort_record::shadow_area`), where a workgroup has the shadow of arrays that shared memory has no room
//! for.
//!
//! ```text
//! uint vkabort_exchange(uint offset, uint word)     placeholders, which the pass `abort` makes execute an atomic on a word of the area
//! uint vkabort_add(uint offset, uint word)
//! uint vkabort_maximum(uint offset, uint word)
//!     return 0
//! uint vkabort_claim()                              the number of a block that was free, or BLOCKS
//!     ticket = vkabort_add(NEXT, 1)
//!     for (left = TRIES, busy = 1; busy != 0 && left != 0; left--, ticket += busy)
//!         busy = vkabort_exchange(BUSY of block ticket % BLOCKS, 1)
//!     if (busy != 0) vkabort_add(MISSED, 1)
//!     return busy != 0 ? BLOCKS : ticket % BLOCKS
//!
//! vkabort_begin: .. number = BLOCKS, if (vkabort_invocation == 0) number = vkabort_claim()
//!     ControlBarrier ..
//!     vkabort_block = offset of block `number`, which is the end of the area if there is none
//!     if (vkabort_block < END) for (..) vkabort_exchange(a word of the block, 0)
//!     ControlBarrier ..
//!
//! void vkabort_leave()                              at the end of every invocation (pass `abort`, `entry`)
//!     if (vkabort_block < END && vkabort_add(LEFT, 1) == vkabort_workgroup_size - 1) LEFT = 0, BUSY = 0
//! ```
//!
//! `number` is a scalar of shared memory: a word behind the shadow, or else the first scalar of a variable of the program, whose value is
//! undefined until the program stores to it.

use super::super::steps::write_steps;
use super::block_protocol::{write_block_offset, write_claim, write_leave};
use super::shared_scalar::{SharedScalar, write_load, write_store};
use vkabort_options::{Options, ShadowArea};
use vkabort_record::shadow_area::{BLOCK_HEADER_WORDS, area_bytes};
use vkabort_runtime::widest_scope;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::index::Index;
use vkabort_spirv::op::{memory_semantics, scope};
use vkabort_spirv::{Code, Id, op};

/// The block of a workgroup.
#[derive(Debug)]
pub(crate) struct ShadowBlock {
    area: ShadowArea,
    /// Words from the start of the block to the end of those that are reserved.
    pub(super) words: u32,
    /// Scalar that passes the number of the block on. `None`: a word behind the shadow does.
    scalar: Option<SharedScalar>,
    /// The private variable with its byte offset in the area.
    pub(crate) variable: Id,
    /// The atomics, with their opcodes.
    pub(crate) atomics: [(u16, Id); 3],
    claim: Id,
    /// The function `vkabort_leave`.
    pub(crate) leave: Id,
}

impl ShadowBlock {
    /// Writes the functions. `size`: the private variable with the number of invocations.
    pub(crate) fn new(
        (index, options, area): (&Index<'_>, &Options, ShadowArea),
        out: &mut Emitter,
        functions: &mut Code,
        scalar: Option<SharedScalar>,
        size: Id,
    ) -> Self {
        let (uint, end) = (out.uint(), out.constant(area_bytes(area.words)));
        let variable = out.private(uint, end);
        out.name(variable, "vkabort_block");
        let atomics = [
            (op::AtomicExchange, "vkabort_exchange"),
            (op::AtomicIAdd, "vkabort_add"),
            (op::AtomicUMax, "vkabort_maximum"),
        ]
        .map(|(opcode, name)| {
            let zero = out.constant(0);
            let function = out.function(functions, name, (uint, &[uint; 2]), |_, _, _| Some(zero));
            (opcode, function)
        });
        let [exchange, add, _] = atomics.map(|(_, function)| function);
        // CPU drivers execute atomics in order.
        let fence = options.memory_barriers.then(|| widest_scope(index));
        let claim = out.function(functions, "vkabort_claim", (uint, &[]), |out, entry, _| {
            Some(write_claim(out, entry, (exchange, add), area, fence))
        });
        let void = out.void();
        let leave = out.function(functions, "vkabort_leave", (void, &[]), |out, _, _| {
            write_leave(out, (exchange, add), [variable, size], end, fence);
            None
        });
        Self {
            area,
            words: BLOCK_HEADER_WORDS,
            scalar,
            variable,
            atomics,
            claim,
            leave,
        }
    }

    /// Whether a word behind the shadow passes the number of the block on.
    pub(super) fn passes_by_word(&self) -> bool {
        self.scalar.is_none()
    }

    /// Reserves words. Returns the first one. `None` if there is no room.
    pub(crate) fn reserve(&mut self, words: u32) -> Option<u32> {
        let first = self.words;
        self.words = first
            .checked_add(words)
            .filter(|end| *end <= BLOCK_HEADER_WORDS + self.area.words)?;
        Some(first)
    }

    /// Writes whether the workgroup has a block.
    pub(super) fn write_is_claimed(&self, out: &mut Emitter) -> Id {
        let (bool, end) = (out.bool(), out.constant(area_bytes(self.area.words)));
        let block = out.calculate(op::Load, self.variable);
        out.emit(op::ULessThan, bool, (block, end))
    }

    /// Writes the byte offset in the area of the word `at` of the block.
    pub(super) fn write_offset(&self, out: &mut Emitter, at: Id) -> Id {
        let (block, two) = (out.calculate(op::Load, self.variable), out.constant(2));
        let bytes = out.calculate(op::ShiftLeftLogical, (at, two));
        out.calculate(op::IAdd, (block, bytes))
    }

    /// Writes the atomic that stores `value` to the word at a byte offset if it is greater. Returns the word before.
    pub(super) fn write_maximum(&self, out: &mut Emitter, offset: Id, value: Id) -> Id {
        let [.., (_, maximum)] = self.atomics;
        out.calculate(op::FunctionCall, (maximum, offset, value))
    }

    /// Claims a block, for the invocation whose number `local` is 0. `word`: the pointer to the word behind the shadow. Returns the label
    /// of the code behind it, and the place of the number.
    pub(super) fn write_claim(
        &self,
        index: &Index<'_>,
        out: &mut Emitter,
        local: Id,
        word: Option<Id>,
    ) -> (Id, (Id, Id)) {
        let (bool, uint, zero) = (out.bool(), out.uint(), out.constant(0));
        let place = match self.scalar {
            Some(scalar) => (scalar.write_pointer(out), scalar.ty),
            None => (word.unwrap_or(Id::NONE), uint),
        };
        let [claim, behind] = [(); 2].map(|()| out.fresh());
        let is_first = out.emit(op::IEqual, bool, (local, zero));
        out.branch_if(is_first, claim, behind, behind);
        out.label(claim);
        let number = out.calculate(op::FunctionCall, self.claim);
        write_store(index, out, place, number);
        out.branch(behind);
        out.label(behind);
        (behind, place)
    }

    /// Clears the words of the block, behind a barrier. `before`: the label of the code before it.
    pub(super) fn write_clear(
        &self,
        index: &Index<'_>,
        out: &mut Emitter,
        (before, place): (Id, (Id, Id)),
        (local, step): (Id, Id),
    ) {
        let number = write_load(index, out, place);
        let offset = write_block_offset(out, number, self.area);
        out.op(op::Store, (self.variable, offset));
        let is_claimed = self.write_is_claimed(out);
        let [zero, header, words] = [0, BLOCK_HEADER_WORDS, self.words].map(|value| out.constant(value));
        let end = out.calculate(op::Select, (is_claimed, words, zero));
        let first = out.calculate(op::IAdd, (local, header));
        let [(_, exchange), ..] = self.atomics;
        write_steps(out, before, (first, end, Some(step)), |out, at| {
            let offset = self.write_offset(out, at);
            out.calculate(op::FunctionCall, (exchange, offset, zero));
        });
        let semantics =
            memory_semantics::ACQUIRE_RELEASE | memory_semantics::WORKGROUP_MEMORY | memory_semantics::UNIFORM_MEMORY;
        let [workgroup, semantics] = [scope::Workgroup, semantics].map(|value| out.constant(value));
        out.op(op::ControlBarrier, (workgroup, workgroup, semantics));
    }
}
