//! The common parts of all shaders: the buffer, the invocation index, and the current function.

use super::interface::{DATA_ID, LENGTH_ID, LOCAL, data};
use std::ops::{Deref, DerefMut};
use vkabort_spirv_builder::op::{
    self, built_in, capability, decoration, execution_mode, execution_model, storage_class,
};
use vkabort_spirv_builder::{Builder, Id, push, string};

/// SPIR-V 1.3, the version of Vulkan 1.1.
const MINOR_VERSION: u32 = 3;

/// A compute module with the common interface.
pub(super) struct ComputeModule {
    builder: Builder,
    words: Id,
    invocation: Id,
}

impl Deref for ComputeModule {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.builder
    }
}

impl DerefMut for ComputeModule {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.builder
    }
}

impl ComputeModule {
    pub(super) fn new(capabilities: &[u32]) -> Self {
        let mut builder = Builder::new(MINOR_VERSION);
        builder.capability(capability::Shader);
        for &capability in capabilities {
            builder.capability(capability);
            match capability {
                capability::AbortKHR => builder.extension("SPV_KHR_abort"),
                capability::ConstantDataKHR => builder.extension("SPV_KHR_constant_data"),
                _ => {}
            }
        }
        let uint = builder.uint();
        let uvec3 = builder.vector(uint, 3);
        let input = builder.pointer(storage_class::Input, uvec3);
        let invocation = builder.new_value(op::Variable, input, &[storage_class::Input]);
        builder.decorate(invocation, decoration::BuiltIn, &[built_in::GlobalInvocationId]);
        let array = builder.new_type(op::TypeRuntimeArray, &[uint]);
        builder.decorate(array, decoration::ArrayStride, &[4]);
        let mut module = Self {
            builder,
            words: 0,
            invocation,
        };
        module.words = module.buffer_of(array, 0);
        module
    }

    /// A storage buffer block with one `member`.
    pub(super) fn buffer_of(&mut self, member: Id, binding: u32) -> Id {
        let block = self.structure(&[(member, 0)]);
        self.buffer(storage_class::StorageBuffer, block, binding)
    }

    /// Appends an instruction without a result to the current function.
    pub(super) fn code(&mut self, opcode: u16, operands: &[u32]) {
        push(&mut self.functions, opcode, operands);
    }

    /// Appends an instruction with a result to the current function.
    pub(super) fn emit(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.fresh();
        self.code(opcode, &[&[ty, id], operands].concat());
        id
    }

    /// Starts the function `id` without a result, and its first block. Returns the parameters.
    pub(super) fn start<const N: usize>(&mut self, id: Id, parameters: [Id; N]) -> [Id; N] {
        let void = self.void();
        let ty = self.ty(op::TypeFunction, &[&[void], &parameters[..]].concat());
        self.code(op::Function, &[void, id, 0, ty]);
        let parameters = parameters.map(|ty| self.emit(op::FunctionParameter, ty, &[]));
        let label = self.fresh();
        self.code(op::Label, &[label]);
        parameters
    }

    /// Ends the current function.
    pub(super) fn end(&mut self) {
        self.code(op::Return, &[]);
        self.code(op::FunctionEnd, &[]);
    }

    /// `GlobalInvocationId.x`.
    pub(super) fn invocation_index(&mut self) -> Id {
        let (uint, first) = (self.uint(), self.constant(0));
        let pointer = self.pointer(storage_class::Input, uint);
        let x = self.emit(op::AccessChain, pointer, &[self.invocation, first]);
        self.emit(op::Load, uint, &[x])
    }

    /// A pointer to word `index` of the buffer.
    pub(super) fn word_at(&mut self, index: Id) -> Id {
        let (uint, member) = (self.uint(), self.constant(0));
        let pointer = self.pointer(storage_class::StorageBuffer, uint);
        self.emit(op::AccessChain, pointer, &[self.words, member, index])
    }

    pub(super) fn add(&mut self, left: Id, right: u32) -> Id {
        let (uint, right) = (self.uint(), self.constant(right));
        self.emit(op::IAdd, uint, &[left, right])
    }

    /// Starts a block that runs if `condition` holds. Returns the label of its merge block.
    pub(super) fn start_if(&mut self, condition: Id) -> Id {
        let (then, merge) = (self.fresh(), self.fresh());
        self.code(op::SelectionMerge, &[merge, 0]);
        self.code(op::BranchConditional, &[condition, then, merge]);
        self.code(op::Label, &[then]);
        merge
    }

    /// Ends the current function. Returns the words of the module with the entry point `main`.
    pub(super) fn finish(mut self, main: Id) -> Vec<u32> {
        self.end();
        let entry = [execution_model::GLCompute, main];
        let entry = [&entry, &string("main")[..], &[self.invocation]].concat();
        push(&mut self.entry_points, op::EntryPoint, &entry);
        let size = [main, execution_mode::LocalSize, LOCAL, 1, 1];
        push(&mut self.modes, op::ExecutionMode, &size);
        self.builder.finish()
    }
}

/// A specialization constant with default `length`, an array type of that length, and its specialization constant data.
pub(super) fn spec_data(m: &mut ComputeModule, length: u32) -> (Id, Id, Id) {
    let uint = m.uint();
    let count = m.new_value(op::SpecConstant, uint, &[length]);
    m.decorate(count, decoration::SpecId, &[LENGTH_ID]);
    let array = m.strided_array(uint, count, None);
    let words: Vec<u32> = (0..length).map(data).collect();
    let value = m.new_value(op::SpecConstantDataKHR, array, &words);
    m.decorate(value, decoration::SpecId, &[DATA_ID]);
    (count, array, value)
}
