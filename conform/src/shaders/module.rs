//! The common parts of all shaders: types, the buffer, and the invocation index.

use super::interface::{DATA_ID, LENGTH_ID, LOCAL, data};
use crate::spirv::{Assembler, capability, decoration, op, storage_class};
use vkabort_spirv_builder::Id;

/// A compute module with the common types and interface.
pub(super) struct ComputeModule {
    pub(super) a: Assembler,
    pub(super) void: Id,
    pub(super) boolean: Id,
    pub(super) uint: Id,
    pub(super) uvec3: Id,
    plain: Id,
    words: Id,
    pub(super) word: Id,
    invocation: Id,
}

impl ComputeModule {
    pub(super) fn new(capabilities: &[u32]) -> Self {
        let mut a = Assembler::new();
        a.builder.capability(capability::Shader);
        for &capability in capabilities {
            a.builder.capability(capability);
            match capability {
                capability::AbortKHR => a.builder.extension("SPV_KHR_abort"),
                capability::ConstantDataKHR => a.builder.extension("SPV_KHR_constant_data"),
                _ => {}
            }
        }
        let void = a.builder.ty(op::TypeVoid, &[]);
        let boolean = a.builder.ty(op::TypeBool, &[]);
        let uint = a.builder.ty(op::TypeInt, &[32, 0]);
        let plain = a.builder.ty(op::TypeFunction, &[void]);
        let uvec3 = a.builder.ty(op::TypeVector, &[uint, 3]);
        let input = a.builder.pointer(storage_class::Input, uvec3);
        let invocation = a.variable(input, storage_class::Input, None);
        a.builder.decorate(
            invocation,
            decoration::BuiltIn,
            &[spirv::BuiltIn::GlobalInvocationId as u32],
        );
        let word = a.builder.pointer(storage_class::StorageBuffer, uint);
        let mut frame = Self {
            a,
            void,
            boolean,
            uint,
            uvec3,
            plain,
            words: 0,
            word,
            invocation,
        };
        let array = frame.a.builder.new_type(op::TypeRuntimeArray, &[uint]);
        frame.a.builder.decorate(array, decoration::ArrayStride, &[4]);
        frame.words = frame.buffer(array, 0);
        frame
    }

    /// A storage buffer block with one `member`.
    pub(super) fn buffer(&mut self, member: Id, binding: u32) -> Id {
        let block = self.structure(&[(member, 0)]);
        self.a.builder.decorate(block, decoration::Block, &[]);
        let pointer = self.a.builder.pointer(storage_class::StorageBuffer, block);
        let variable = self.a.variable(pointer, storage_class::StorageBuffer, None);
        self.a.builder.decorate(variable, decoration::DescriptorSet, &[0]);
        self.a.builder.decorate(variable, decoration::Binding, &[binding]);
        variable
    }

    /// A structure type with the byte offsets of its members.
    pub(super) fn structure(&mut self, members: &[(Id, u32)]) -> Id {
        let types: Vec<Id> = members.iter().map(|&(ty, _)| ty).collect();
        let id = self.a.builder.new_type(op::TypeStruct, &types);
        for (&(_, offset), member) in members.iter().zip(0..) {
            self.a
                .builder
                .decorate_member(id, member, decoration::Offset, &[offset]);
        }
        id
    }

    pub(super) fn constant(&mut self, value: u32) -> Id {
        self.a.builder.value(op::Constant, self.uint, &[value])
    }

    /// An array type, with an explicit layout if `stride` (bytes) is present.
    pub(super) fn array(&mut self, element: Id, length: Id, stride: Option<u32>) -> Id {
        let id = self.a.builder.new_type(op::TypeArray, &[element, length]);
        if let Some(stride) = stride {
            self.a.builder.decorate(id, decoration::ArrayStride, &[stride]);
        }
        id
    }

    /// `GlobalInvocationId.x`.
    pub(super) fn invocation_index(&mut self) -> Id {
        let pointer = self.a.builder.pointer(storage_class::Input, self.uint);
        let x = self.constant(0);
        let x = self.a.value(op::AccessChain, pointer, &[self.invocation, x]);
        self.a.value(op::Load, self.uint, &[x])
    }

    /// A pointer to word `index` of the buffer.
    pub(super) fn word_at(&mut self, index: Id) -> Id {
        let member = self.constant(0);
        self.a.value(op::AccessChain, self.word, &[self.words, member, index])
    }

    pub(super) fn add(&mut self, left: Id, right: u32) -> Id {
        let right = self.constant(right);
        self.a.value(op::IAdd, self.uint, &[left, right])
    }

    /// Starts a block that runs if `condition` holds. Returns the label of its merge block.
    pub(super) fn start_if(&mut self, condition: Id) -> Id {
        let (then, merge) = (self.a.builder.fresh(), self.a.builder.fresh());
        self.a.code(op::SelectionMerge, &[merge, 0]);
        self.a.code(op::BranchConditional, &[condition, then, merge]);
        self.a.code(op::Label, &[then]);
        merge
    }

    pub(super) fn start_main(&mut self) -> Id {
        let main = self.a.builder.fresh();
        self.a.function(main, self.void, self.plain, &[]);
        main
    }

    pub(super) fn finish_main(mut self, main: Id) -> Vec<u32> {
        self.a.code(op::Return, &[]);
        self.a.code(op::FunctionEnd, &[]);
        self.a.module(main, LOCAL)
    }
}

/// A specialization constant with default `length`, an array type of that length, and its specialization constant data.
pub(super) fn spec_data(frame: &mut ComputeModule, length: u32) -> (Id, Id, Id) {
    let uint = frame.uint;
    let count = frame.a.builder.new_value(op::SpecConstant, uint, &[length]);
    frame.a.builder.decorate(count, decoration::SpecId, &[LENGTH_ID]);
    let array = frame.array(uint, count, None);
    let words: Vec<u32> = (0..length).map(data).collect();
    let value = frame.a.builder.new_value(op::SpecConstantDataKHR, array, &words);
    frame.a.builder.decorate(value, decoration::SpecId, &[DATA_ID]);
    (count, array, value)
}
