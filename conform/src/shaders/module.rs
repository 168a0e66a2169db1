//! The common parts of all shaders: types, the buffer, and the invocation index.

use super::interface::{DATA_ID, LENGTH_ID, LOCAL, data};
use crate::spirv::{Assembler, Capability, Decoration, GLOBAL_INVOCATION_ID, Id, Op, StorageClass};

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
    pub(super) fn new(capabilities: &[Capability]) -> Self {
        let mut a = Assembler::default();
        a.capability(Capability::Shader);
        for &capability in capabilities {
            a.capability(capability);
            match capability {
                Capability::AbortKhr => a.extension("SPV_KHR_abort"),
                Capability::ConstantDataKhr => a.extension("SPV_KHR_constant_data"),
                _ => {}
            }
        }
        let void = a.ty(Op::TypeVoid, &[]);
        let boolean = a.ty(Op::TypeBool, &[]);
        let uint = a.ty(Op::TypeInt, &[32, 0]);
        let plain = a.ty(Op::TypeFunction, &[void]);
        let uvec3 = a.ty(Op::TypeVector, &[uint, 3]);
        let input = a.pointer(StorageClass::Input, uvec3);
        let invocation = a.variable(input, StorageClass::Input, None);
        a.decorate(invocation, Decoration::BuiltIn, &[GLOBAL_INVOCATION_ID]);
        let word = a.pointer(StorageClass::Buffer, uint);
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
        let array = frame.a.ty(Op::TypeRuntimeArray, &[uint]);
        frame.a.decorate(array, Decoration::ArrayStride, &[4]);
        frame.words = frame.buffer(array, 0);
        frame
    }

    /// A storage buffer block with one `member`.
    pub(super) fn buffer(&mut self, member: Id, binding: u32) -> Id {
        let block = self.structure(&[(member, 0)]);
        self.a.decorate(block, Decoration::Block, &[]);
        let pointer = self.a.pointer(StorageClass::Buffer, block);
        let variable = self.a.variable(pointer, StorageClass::Buffer, None);
        self.a.decorate(variable, Decoration::DescriptorSet, &[0]);
        self.a.decorate(variable, Decoration::Binding, &[binding]);
        variable
    }

    /// A structure type with the byte offsets of its members.
    pub(super) fn structure(&mut self, members: &[(Id, u32)]) -> Id {
        let types: Vec<Id> = members.iter().map(|&(ty, _)| ty).collect();
        let id = self.a.ty(Op::TypeStruct, &types);
        for (&(_, offset), member) in members.iter().zip(0..) {
            self.a.decorate_member(id, member, Decoration::Offset, &[offset]);
        }
        id
    }

    pub(super) fn constant(&mut self, value: u32) -> Id {
        self.a.constant(Op::Constant, self.uint, &[value])
    }

    /// An array type, with an explicit layout if `stride` (bytes) is present.
    pub(super) fn array(&mut self, element: Id, length: Id, stride: Option<u32>) -> Id {
        let id = self.a.ty(Op::TypeArray, &[element, length]);
        if let Some(stride) = stride {
            self.a.decorate(id, Decoration::ArrayStride, &[stride]);
        }
        id
    }

    /// `GlobalInvocationId.x`.
    pub(super) fn invocation_index(&mut self) -> Id {
        let pointer = self.a.pointer(StorageClass::Input, self.uint);
        let x = self.constant(0);
        let x = self.a.value(Op::AccessChain, pointer, &[self.invocation, x]);
        self.a.value(Op::Load, self.uint, &[x])
    }

    /// A pointer to word `index` of the buffer.
    pub(super) fn word_at(&mut self, index: Id) -> Id {
        let member = self.constant(0);
        self.a.value(Op::AccessChain, self.word, &[self.words, member, index])
    }

    pub(super) fn add(&mut self, left: Id, right: u32) -> Id {
        let right = self.constant(right);
        self.a.value(Op::IAdd, self.uint, &[left, right])
    }

    /// Starts a block that runs if `condition` holds. Returns the label of its merge block.
    pub(super) fn start_if(&mut self, condition: Id) -> Id {
        let (then, merge) = (self.a.id(), self.a.id());
        self.a.code(Op::SelectionMerge, &[merge, 0]);
        self.a.code(Op::BranchConditional, &[condition, then, merge]);
        self.a.code(Op::Label, &[then]);
        merge
    }

    pub(super) fn start_main(&mut self) -> Id {
        let main = self.a.id();
        self.a.function(main, self.void, self.plain, &[]);
        main
    }

    pub(super) fn finish_main(mut self, main: Id) -> Vec<u32> {
        self.a.code(Op::Return, &[]);
        self.a.code(Op::FunctionEnd, &[]);
        self.a.module(main, LOCAL)
    }
}

/// A specialization constant with default `length`, an array type of that length, and its specialization constant data.
pub(super) fn spec_data(frame: &mut ComputeModule, length: u32) -> (Id, Id, Id) {
    let uint = frame.uint;
    let count = frame.a.constant(Op::SpecConstant, uint, &[length]);
    frame.a.decorate(count, Decoration::SpecId, &[LENGTH_ID]);
    let array = frame.array(uint, count, None);
    let words: Vec<u32> = (0..length).map(data).collect();
    let value = frame.a.constant(Op::SpecConstantDataKhr, array, &words);
    frame.a.decorate(value, Decoration::SpecId, &[DATA_ID]);
    (count, array, value)
}
