//! Types of the arena's contents, and pointers to them.

use super::state::{ArenaTypes, Runtime};
use vkabort_options::ShadowArea;
use vkabort_record::layout::{
    ABORTED_OFFSET, CONTROL_BYTES, CURSOR_OFFSET, ENDED_OFFSET, TICKS_OFFSET, UNIT_BYTES, UNIT_WORDS,
};
use vkabort_record::shadow_area::area_bytes;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::op::memory_operands::{ALIGNED, NON_PRIVATE_POINTER};
use vkabort_spirv::op::{decoration, storage_class};
use vkabort_spirv::{Id, Literal, op};

/// Members of the control block behind [`ArenaTypes::control_pointer`].
pub(super) const CURSOR: u32 = 0;
pub(super) const ABORTED: u32 = 1;

/// Storage class of the arena.
const CLASS: u32 = storage_class::PhysicalStorageBuffer;

impl Runtime {
    /// The types, declared on first use.
    pub(crate) fn types(&mut self, out: &mut Emitter) -> ArenaTypes {
        *self.types.get_or_insert_with(|| {
            let uint = out.uint();
            let unit = out.vector(uint, UNIT_WORDS);
            let control_pointer = block_pointer(out, &[uint; 2], &[CURSOR_OFFSET, ABORTED_OFFSET]);
            let units = out.runtime_array(unit, UNIT_BYTES);
            let units_pointer = block_pointer(out, &[units], &[0]);
            ArenaTypes {
                unit,
                uint_pointer: out.pointer(CLASS, uint),
                unit_pointer: out.pointer(CLASS, unit),
                control_pointer,
                units_pointer,
            }
        })
    }

    /// Memory operands of a load or store in the arena; `alignment` in bytes
    /// (VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708).
    pub fn access(&self, alignment: u32) -> [Literal; 2] {
        let non_private = if self.uses_vulkan_memory_model {
            NON_PRIVATE_POINTER
        } else {
            0
        };
        [Literal(ALIGNED | non_private), Literal(alignment)]
    }

    /// A pointer of type `ty` to a device address.
    pub fn pointer_to(&mut self, out: &mut Emitter, ty: Id, address: u64) -> Id {
        let declared = self.addresses.iter().find(|(declared, _)| *declared == address);
        let words = declared.map(|(_, words)| *words).unwrap_or_else(|| {
            let uint = out.uint();
            let uvec2 = out.vector(uint, 2);
            let (low, high) = (out.constant(address as u32), out.constant((address >> 32) as u32));
            let words = out.value(op::ConstantComposite, uvec2, (low, high));
            self.addresses.push((address, words));
            words
        });
        out.emit(op::Bitcast, ty, words)
    }

    /// A pointer of type `ty` to `offset` bytes behind a device address; `end` is above the largest offset.
    pub(crate) fn pointer_behind(&self, out: &mut Emitter, ty: Id, address: u64, offset: Id, end: u64) -> Id {
        let low = out.constant(address as u32);
        let sum = out.calculate(op::IAdd, (offset, low));
        self.pointer_inside(out, ty, address, sum, end)
    }

    /// A pointer of type `ty` to the address with the low word `low` in an area of `bytes` bytes at a device address.
    ///
    /// ```text
    /// %address = CompositeConstruct %low HIGH
    /// %pointer = Bitcast %ty %address
    /// ```
    ///
    /// Without 64-bit arithmetic at each access, compilers need no carries and half the registers. In the rare area that
    /// crosses a multiple of 4 GiB, HIGH is selected by the carry of LOW.
    pub fn pointer_inside(&self, out: &mut Emitter, ty: Id, address: u64, low: Id, bytes: u64) -> Id {
        let uint = out.uint();
        let uvec2 = out.vector(uint, 2);
        let (first, high) = (address as u32, (address >> 32) as u32);
        let crosses = u64::from(first) + bytes > 1 << 32;
        let mut high_word = out.constant(high);
        if crosses {
            let bool = out.bool();
            let [first, next] = [first, high.wrapping_add(1)].map(|value| out.constant(value));
            let carries = out.emit(op::ULessThan, bool, (low, first));
            high_word = out.emit(op::Select, uint, (carries, next, high_word));
        }
        let words = out.emit(op::CompositeConstruct, uvec2, (low, high_word));
        out.emit(op::Bitcast, ty, words)
    }

    /// Pointer to a counter of the control block in use, `offset` bytes behind its start.
    pub(super) fn counter(&mut self, out: &mut Emitter, offset: Id) -> Id {
        let ty = self.types(out).uint_pointer;
        self.pointer_behind(out, ty, self.arena.control, offset, u64::from(CONTROL_BYTES))
    }

    /// Counts an abort without a record: adds `count` to the counter of DROPPED at `offset`.
    pub(super) fn count_dropped(&mut self, out: &mut Emitter, count: Id, offset: Id) {
        let [scope, relaxed] = [self.scope, 0].map(|value| out.constant(value));
        let counter = self.counter(out, offset);
        out.calculate(op::AtomicIAdd, (counter, scope, relaxed, count));
    }

    /// Adds `count` to ENDED, and calls the function of the module for invocations that end.
    pub fn count_ended(&mut self, out: &mut Emitter, count: Id) {
        if let Some(end) = self.end {
            out.calculate(op::FunctionCall, end);
        }
        let ty = self.types(out).uint_pointer;
        let ended = self.pointer_to(out, ty, self.arena.control + u64::from(ENDED_OFFSET));
        let [scope, relaxed] = [self.scope, 0].map(|value| out.constant(value));
        out.calculate(op::AtomicIAdd, (ended, scope, relaxed, count));
    }

    /// Pointer to the record area as an array of words.
    pub fn words(&mut self, out: &mut Emitter) -> Id {
        let ty = *self.words_pointer.get_or_insert_with(|| {
            let uint = out.uint();
            let words = out.runtime_array(uint, 4);
            block_pointer(out, &[words], &[0])
        });
        self.pointer_to(out, ty, self.arena.records)
    }

    /// Pointer to [`CURSOR`] or [`ABORTED`] in the control block in use.
    pub(super) fn control(&mut self, out: &mut Emitter, member: u32) -> Id {
        self.control_at(out, self.arena.control, member)
    }

    fn control_at(&mut self, out: &mut Emitter, address: u64, member: u32) -> Id {
        let types = self.types(out);
        let block = self.pointer_to(out, types.control_pointer, address);
        let member = out.constant(member);
        out.emit(op::AccessChain, types.uint_pointer, (block, member))
    }

    /// Sets ABORTED for an abort that no record shows, or not yet: in the control block in use, which waiting loops poll.
    pub fn set_aborted(&mut self, out: &mut Emitter) {
        self.store_aborted(out, self.arena.control);
    }

    /// Sets ABORTED for the host, which watches the control block before the records: it cannot poll the device's own memory without
    /// crossing the bus at every call, and a reset may discard that.
    pub(super) fn set_aborted_for_host(&mut self, out: &mut Emitter) {
        let address = self.arena.before_records();
        if address != self.arena.control {
            self.store_aborted(out, address);
        }
    }

    fn store_aborted(&mut self, out: &mut Emitter, address: u64) {
        let [scope, relaxed, one] = [self.scope, 0, 1].map(|value| out.constant(value));
        let aborted = self.control_at(out, address, ABORTED);
        out.op(op::AtomicStore, (aborted, scope, relaxed, one));
    }

    /// Compares ABORTED with a value that it does not have.
    pub fn write_holds(&mut self, out: &mut Emitter) -> Id {
        let [scope, relaxed, other] =
            [self.scope, 0, vkabort_record::layout::ABORTED + 1].map(|value| out.constant(value));
        let (aborted, bool) = (self.control(out, ABORTED), out.bool());
        let aborted = out.calculate(op::AtomicLoad, (aborted, scope, relaxed));
        out.emit(op::INotEqual, bool, (aborted, other))
    }

    /// Loads TICKS, which the host advances.
    pub fn load_ticks(&mut self, out: &mut Emitter) -> Id {
        let ty = self.types(out).uint_pointer;
        let address = self.arena.control + u64::from(TICKS_OFFSET);
        let ticks = self.pointer_to(out, ty, address);
        let [scope, relaxed] = [self.scope, 0].map(|value| out.constant(value));
        out.calculate(op::AtomicLoad, (ticks, scope, relaxed))
    }

    /// Writes the body of a function that executes an atomic on the word of the shadow area at a byte offset.
    pub fn write_area_atomic(&mut self, out: &mut Emitter, area: ShadowArea, opcode: u16, (offset, word): (Id, Id)) {
        let ty = self.types(out).uint_pointer;
        let pointer = self.pointer_behind(out, ty, area.address, offset, area_bytes(area.words).into());
        let [scope, relaxed] = [self.scope, 0].map(|value| out.constant(value));
        let before = out.calculate(opcode, (pointer, scope, relaxed, word));
        out.op(op::ReturnValue, before);
    }

    /// Pointer to word `at` of the record area; `base` is from [`Runtime::words`].
    pub fn word_pointer(&mut self, out: &mut Emitter, base: Id, at: Id) -> Id {
        let types = self.types(out);
        let (pointer, zero) = (out.fresh(), out.constant(0));
        out.op(op::AccessChain, (types.uint_pointer, pointer, base, zero, at));
        pointer
    }
}

/// Type of pointers to a new block with members of these types at these byte offsets.
pub fn block_pointer(out: &mut Emitter, types: &[Id], offsets: &[u32]) -> Id {
    let block = out.structure(types);
    out.decorate(block, decoration::Block, &[]);
    for (member, offset) in (0..).zip(offsets) {
        out.decorate_member(block, member, decoration::Offset, &[*offset]);
    }
    out.pointer(CLASS, block)
}
