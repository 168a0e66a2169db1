//! The variables in shared memory.

use crate::generate::compute_writer::{ComputeWriter, variable};
use crate::module::Id;
use crate::op::{self, storage_class as class};
use vkabort_spirv_builder::Builder;

/// Scalars of each array, a power of two.
pub(super) const SCALARS: u32 = 16;
/// `Workgroup` as a scope.
pub(super) const WORKGROUP: u32 = 2;
/// Semantics of `barrier()` in GLSL: `AcquireRelease` and `WorkgroupMemory`.
const BARRIER: u32 = 0x108;

pub(super) type Writer<'c> = ComputeWriter<'c, SharedMemory>;

/// An array of words and one of vectors.
pub(super) struct SharedMemory {
    array: Id,
    vectors: Id,
}

impl SharedMemory {
    pub(super) fn new(builder: &mut Builder) -> Self {
        let uint = builder.uint();
        let uvec4 = builder.vector(uint, 4);
        let (words, rows) = (builder.array(uint, SCALARS), builder.array(uvec4, SCALARS / 4));
        Self {
            array: variable(builder, class::Workgroup, (words, "a"), &[]),
            vectors: variable(builder, class::Workgroup, (rows, "v"), &[]),
        }
    }
}

impl Writer<'_> {
    /// Stores every scalar, in a loop of all invocations.
    pub(super) fn initialize(&mut self) {
        let rounds = self.builder.constant(SCALARS.div_ceil(self.invocations));
        let open = self.open_loop(rounds);
        let (count, invocation) = (self.builder.constant(self.invocations), self.invocation());
        let first = self.word(op::IMul, &[open.number, count]);
        let number = self.word(op::IAdd, &[first, invocation]);
        let last = self.builder.constant(SCALARS);
        let is_inside = self.compare(op::ULessThan, number, last);
        let merge = self.open_selection(is_inside);
        for is_array in [true, false] {
            let pointer = self.scalar_pointer(is_array, number);
            self.push(op::Store, &[pointer, number]);
        }
        self.close_selection(merge);
        self.close_loop(&open);
        self.write_barrier();
    }

    /// Pointer to the scalar of a number in one of the arrays.
    pub(super) fn scalar_pointer(&mut self, is_array: bool, number: Id) -> Id {
        let uint = self.builder.uint();
        let pointer = self.builder.pointer(class::Workgroup, uint);
        if is_array {
            return self.value(op::AccessChain, pointer, &[self.memory.array, number]);
        }
        let [two, three] = [2, 3].map(|value| self.builder.constant(value));
        let vector = self.word(op::ShiftRightLogical, &[number, two]);
        let component = self.word(op::BitwiseAnd, &[number, three]);
        self.value(op::AccessChain, pointer, &[self.memory.vectors, vector, component])
    }

    pub(super) fn load_whole_vector(&mut self, number: Id) -> Id {
        let uint = self.builder.uint();
        let uvec4 = self.builder.vector(uint, 4);
        let pointer = self.builder.pointer(class::Workgroup, uvec4);
        let pointer = self.value(op::AccessChain, pointer, &[self.memory.vectors, number]);
        self.value(op::Load, uvec4, &[pointer])
    }

    pub(super) fn write_barrier(&mut self) {
        let [scope, semantics] = [WORKGROUP, BARRIER].map(|value| self.builder.constant(value));
        self.push(op::ControlBarrier, &[scope, scope, semantics]);
    }
}
