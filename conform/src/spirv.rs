//! Opcodes and enumerants of the checks' shaders, and the module builder with a current function.

#![allow(non_upper_case_globals, reason = "the names of the SPIR-V specification")]

use vkabort_spirv_builder::{Builder, Id, push, string};

macro_rules! from_spirv {
    ($ty:ty; $kind:ident: $($name:ident)*) => { $(pub const $name: $ty = spirv::$kind::$name as $ty;)* };
}

/// Opcodes.
pub mod op {
    from_spirv! { u16; Op:
        TypeVoid TypeBool TypeInt TypeFloat TypeVector TypeMatrix TypeArray TypeRuntimeArray TypeStruct
        TypeFunction Constant ConstantNull SpecConstant Function FunctionParameter FunctionEnd FunctionCall Variable Load
        Store AccessChain CompositeConstruct Bitcast IAdd UMod IEqual UGreaterThanEqual BitwiseAnd Not AtomicLoad
        AtomicStore AtomicIAdd LoopMerge SelectionMerge Label Branch BranchConditional Return
    }
    pub const AbortKHR: u16 = 5121;
    pub const ConstantDataKHR: u16 = 5147;
    pub const SpecConstantDataKHR: u16 = 5148;
}

/// Capabilities.
pub mod capability {
    from_spirv! { u32; Capability: Shader Int8 }
    pub const AbortKHR: u32 = 5120;
    pub const ConstantDataKHR: u32 = 5146;
}

/// Storage classes.
pub mod storage_class {
    from_spirv! { u32; StorageClass: Input Private StorageBuffer }
}

/// Decorations.
pub mod decoration {
    from_spirv! { u32; Decoration:
        SpecId Block ColMajor ArrayStride MatrixStride BuiltIn Binding DescriptorSet Offset
    }
    pub const UTFEncodedKHR: u32 = 5145;
}

/// SPIR-V 1.3, the version of Vulkan 1.1.
const MINOR_VERSION: u32 = 3;

/// A module with a compute shader under construction.
pub struct Assembler {
    pub builder: Builder,
    interface: Vec<Id>,
}

impl Assembler {
    pub fn new() -> Self {
        Self {
            builder: Builder::new(MINOR_VERSION),
            interface: Vec::new(),
        }
    }

    /// Adds a variable outside functions. Input variables join the interface of the entry point.
    pub fn variable(&mut self, pointer: Id, class: u32, initializer: Option<Id>) -> Id {
        let mut operands = vec![class];
        operands.extend(initializer);
        let id = self.builder.new_value(op::Variable, pointer, &operands);
        if class == storage_class::Input {
            self.interface.push(id);
        }
        id
    }

    /// Appends an instruction without a result to the current function.
    pub fn code(&mut self, opcode: u16, operands: &[u32]) {
        push(&mut self.builder.functions, opcode, operands);
    }

    /// Appends an instruction with a result to the current function.
    pub fn value(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Id {
        let id = self.builder.fresh();
        self.code(opcode, &[&[ty, id], operands].concat());
        id
    }

    /// Starts the function `id` and its first block. Returns the parameters.
    pub fn function(&mut self, id: Id, result: Id, ty: Id, parameters: &[Id]) -> Vec<Id> {
        self.code(op::Function, &[result, id, 0, ty]);
        let parameters = parameters
            .iter()
            .map(|&ty| self.value(op::FunctionParameter, ty, &[]))
            .collect();
        let label = self.builder.fresh();
        self.code(op::Label, &[label]);
        parameters
    }

    /// Words of the module, with the entry point `main` and workgroups of `local` x 1 x 1 invocations.
    pub fn module(mut self, main: Id, local: u32) -> Vec<u32> {
        let model = spirv::ExecutionModel::GLCompute as u32;
        let entry = [&[model, main], &string("main")[..], &self.interface].concat();
        push(&mut self.builder.entry_points, spirv::Op::EntryPoint as u16, &entry);
        let mode = spirv::ExecutionMode::LocalSize as u32;
        let size = [main, mode, local, 1, 1];
        push(&mut self.builder.modes, spirv::Op::ExecutionMode as u16, &size);
        self.builder.finish()
    }
}
