//! The shared arrays of a program, and accesses to them and to its buffers.

use super::{Shape, ShapeInputs};
use crate::generate::DATA;
use crate::generate::compute_writer::{ComputeWriter, variable, words_block};
use crate::module::Id;
use crate::op::{self, capability, storage_class as class};
use vkabort_spirv_builder::Builder;

/// Elements of each array, a power of two.
pub(super) const ELEMENTS: u32 = 32;
/// `Workgroup` as a scope.
const WORKGROUP: u32 = 2;
/// Semantics of `barrier()` in GLSL: `AcquireRelease` and `WorkgroupMemory`.
const BARRIER: u32 = 0x108;

pub(super) type Writer<'c> = ComputeWriter<'c, SharedArrays>;

/// How invocations use an array between two barriers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// Invocation `l` has the elements `l * factor + first`, modulo their number.
    Own {
        /// An odd number.
        factor: u32,
        first: u32,
    },
    /// All load any.
    Read,
}

/// Three arrays of words, and a buffer that is only read.
pub(super) struct SharedArrays {
    /// Type of the arrays.
    pub(super) ty: Id,
    /// The arrays whose elements change.
    pub(super) arrays: [Id; 2],
    /// The array of divisors.
    pub(super) divisors: Id,
    pub(super) data: Id,
}

impl SharedArrays {
    pub(super) fn new(builder: &mut Builder, shape: Shape) -> Self {
        match shape {
            Shape::OneAddress => {
                builder.capability(capability::PhysicalStorageBufferAddresses);
                builder.extension("SPV_KHR_physical_storage_buffer");
                builder.model[0] = 5348;
            }
            Shape::ReturnedPointers => {
                builder.capability(capability::VariablePointersStorageBuffer);
                builder.capability(capability::VariablePointers);
            }
            Shape::Straight | Shape::DivergentLoops | Shape::Callees => {}
        }
        let uint = builder.uint();
        let ty = builder.array(uint, ELEMENTS);
        let [a, b, divisors] = ["a", "b", "d"].map(|name| variable(builder, class::Workgroup, (ty, name), &[]));
        let block = words_block(builder);
        Self {
            ty,
            arrays: [a, b],
            divisors,
            data: builder.buffer(class::StorageBuffer, block, DATA),
        }
    }
}

impl Writer<'_> {
    pub(super) fn number(&mut self, value: u32) -> Id {
        self.builder.constant(value)
    }

    /// An operation on a value and a constant.
    pub(super) fn with_constant(&mut self, opcode: u16, value: Id, constant: u32) -> Id {
        let constant = self.number(constant);
        self.word(opcode, &[value, constant])
    }

    /// A variable of the function, which has to begin with it.
    pub(super) fn local(&mut self, ty: Id) -> Id {
        let pointer = self.builder.pointer(class::Function, ty);
        self.value(op::Variable, pointer, &[class::Function])
    }

    /// Pointer to an element of a shared array, or of a pointer to one.
    pub(super) fn element(&mut self, array: Id, number: Id) -> Id {
        let uint = self.builder.uint();
        let pointer = self.builder.pointer(class::Workgroup, uint);
        self.value(op::AccessChain, pointer, &[array, number])
    }

    pub(super) fn load_element(&mut self, array: Id, number: Id) -> Id {
        let pointer = self.element(array, number);
        self.word(op::Load, &[pointer])
    }

    pub(super) fn store_element(&mut self, array: Id, number: Id, value: Id) {
        let pointer = self.element(array, number);
        self.push(op::Store, &[pointer, value]);
    }

    /// A divisor, at a place that depends on `number`.
    pub(super) fn divisor(&mut self, number: Id) -> Id {
        let number = self.with_constant(op::BitwiseAnd, number, ELEMENTS - 1);
        self.load_element(self.memory.divisors, number)
    }

    pub(super) fn choose_use(&mut self) -> Use {
        match self.choices.chance(60) {
            true => Use::Own {
                factor: 2 * self.choices.below(ELEMENTS / 2) + 1,
                first: self.choices.below(ELEMENTS),
            },
            false => Use::Read,
        }
    }

    /// The number of an element that the invocation may load, and whether it may store it. `value`: a number to choose it by.
    pub(super) fn place(&mut self, usage: Use, value: Id) -> (Id, bool) {
        let (number, is_own) = match usage {
            Use::Own { factor, first } => {
                let invocation = self.invocation();
                let scaled = self.with_constant(op::IMul, invocation, factor);
                (self.with_constant(op::IAdd, scaled, first), true)
            }
            Use::Read => (value, false),
        };
        (self.with_constant(op::BitwiseAnd, number, ELEMENTS - 1), is_own)
    }

    /// Calls `store` for each element of the arrays: in straight code if each invocation has one, else in a loop.
    pub(super) fn initialize(&mut self, mut store: impl FnMut(&mut Self, Id, Id, Id)) {
        let open = match self.invocations == ELEMENTS {
            true => None,
            false => {
                let rounds = self.number(ELEMENTS / self.invocations);
                Some(self.open_loop(rounds))
            }
        };
        let mut number = self.invocation();
        if let Some(open) = &open {
            let first = self.with_constant(op::IMul, open.number, self.invocations);
            number = self.word(op::IAdd, &[first, number]);
        }
        for array in self.memory.arrays {
            let value = self.with_constant(op::IMul, number, 0x9E37_79B9);
            store(self, array, number, value);
        }
        let low = self.with_constant(op::BitwiseAnd, number, 15);
        let divisor = self.with_constant(op::IAdd, low, 1);
        store(self, self.memory.divisors, number, divisor);
        if let Some(open) = &open {
            self.close_loop(open);
        }
        self.barrier();
    }

    pub(super) fn barrier(&mut self) {
        let [scope, semantics] = [WORKGROUP, BARRIER].map(|value| self.number(value));
        self.push(op::ControlBarrier, &[scope, scope, semantics]);
    }

    /// Loads a word of the buffer that is only read.
    pub(super) fn load_data(&mut self, number: Id) -> Id {
        let number = self.with_constant(op::BitwiseAnd, number, 2 * ShapeInputs::INVOCATIONS - 1);
        let pointer = self.buffer_word(self.memory.data, number);
        self.word(op::Load, &[pointer])
    }

    /// Pointer to one of the words of the invocation behind the results.
    pub(super) fn own_word(&mut self) -> Id {
        let words = ShapeInputs::OUT_WORDS - 1;
        let invocation = self.invocation();
        let first = self.with_constant(op::IMul, invocation, words);
        let word = ShapeInputs::INVOCATIONS + self.choices.below(words);
        let number = self.with_constant(op::IAdd, first, word);
        self.buffer_word(self.out, number)
    }

    fn buffer_word(&mut self, buffer: Id, number: Id) -> Id {
        let (uint, zero) = (self.builder.uint(), self.number(0));
        let pointer = self.builder.pointer(class::StorageBuffer, uint);
        self.value(op::AccessChain, pointer, &[buffer, zero, number])
    }
}
