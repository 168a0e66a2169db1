//! Opcodes and enumerants by their SPIR-V names. A table of its own: the rewriter that it tests has another.

#![allow(
    non_upper_case_globals,
    missing_docs,
    reason = "the SPIR-V specification defines names and meanings"
)]

macro_rules! from_spirv {
    ($ty:ty; $kind:ident: $($name:ident)*) => { $(pub const $name: $ty = spirv::$kind::$name as $ty;)* };
}

from_spirv! { u16; Op:
    Nop Undef String Name MemberName Line NoLine Extension ExtInstImport ExtInst MemoryModel EntryPoint ExecutionMode ExecutionModeId Capability
    TypeVoid TypeBool TypeInt TypeFloat TypeVector TypeMatrix TypeArray TypeRuntimeArray TypeStruct TypePointer
    TypeFunction TypeImage TypeSampler TypeSampledImage TypeAccelerationStructureKHR
    ConstantTrue ConstantFalse Constant ConstantComposite ConstantNull SpecConstantTrue SpecConstantFalse SpecConstant
    SpecConstantComposite SpecConstantOp
    Function FunctionParameter FunctionEnd FunctionCall Variable Load Store CopyMemory AccessChain InBoundsAccessChain ArrayLength
    Decorate MemberDecorate
    VectorExtractDynamic VectorShuffle CompositeConstruct CompositeExtract CompositeInsert CopyObject CopyLogical
    SampledImage Image
    ConvertFToU ConvertFToS ConvertSToF ConvertUToF UConvert SConvert FConvert Bitcast
    SNegate IAdd FAdd ISub FSub IMul SMulExtended FMul UDiv SDiv UMod SRem SMod
    Any All LogicalEqual LogicalNotEqual LogicalOr LogicalAnd LogicalNot Select
    IEqual INotEqual UGreaterThan SGreaterThan UGreaterThanEqual SGreaterThanEqual ULessThan SLessThan ULessThanEqual
    SLessThanEqual FOrdEqual FUnordEqual FOrdNotEqual FUnordNotEqual FUnordLessThan FUnordGreaterThan FUnordLessThanEqual
    FUnordGreaterThanEqual FOrdLessThan FOrdGreaterThan FOrdLessThanEqual FOrdGreaterThanEqual
    ShiftRightLogical ShiftRightArithmetic ShiftLeftLogical BitwiseOr BitwiseXor BitwiseAnd Not
    BitFieldInsert BitFieldSExtract BitFieldUExtract
    ControlBarrier MemoryBarrier AtomicLoad AtomicStore AtomicExchange AtomicIAdd AtomicUMax AtomicOr
    Phi LoopMerge SelectionMerge Label Branch BranchConditional Switch Kill Return ReturnValue Unreachable
    TerminateInvocation IgnoreIntersectionKHR TerminateRayKHR EmitMeshTasksEXT
}

pub const AbortKHR: u16 = 5121;
pub const ConstantDataKHR: u16 = 5147;
pub const SpecConstantDataKHR: u16 = 5148;
pub const PoisonKHR: u16 = 5158;
pub const FreezeKHR: u16 = 5159;

pub mod capability {
    from_spirv! { u32; Capability:
        Shader Float16 Float64 Int64 Int16 Int8 PhysicalStorageBufferAddresses VulkanMemoryModel
        VulkanMemoryModelDeviceScope VariablePointers VariablePointersStorageBuffer
    }
    pub const AbortKHR: u32 = 5120;
    pub const ConstantDataKHR: u32 = 5146;
    pub const PoisonFreezeKHR: u32 = 5156;
}

pub mod decoration {
    from_spirv! { u32; Decoration:
        SpecId Block BufferBlock RowMajor ColMajor ArrayStride MatrixStride BuiltIn Location Binding DescriptorSet
        Offset Flat NoSignedWrap NoUnsignedWrap AliasedPointer
    }
    pub const UTFEncodedKHR: u32 = 5145;
}

pub mod storage_class {
    from_spirv! { u32; StorageClass:
        UniformConstant Input Uniform Output Workgroup Private Function PushConstant StorageBuffer PhysicalStorageBuffer
    }
}

pub mod built_in {
    from_spirv! { u32; BuiltIn: FragCoord GlobalInvocationId LocalInvocationId LocalInvocationIndex VertexIndex InstanceIndex }
}

pub mod execution_model {
    from_spirv! { u32; ExecutionModel:
        Vertex TessellationControl TessellationEvaluation Geometry Fragment GLCompute TaskEXT MeshEXT
    }
}

pub mod execution_mode {
    from_spirv! { u32; ExecutionMode: OriginUpperLeft LocalSize }
    pub const ArithmeticPoisonKHR: u32 = 5157;
}

/// Whether an instruction terminates a block.
pub fn is_terminator(op: u16) -> bool {
    matches!(
        op,
        Branch
            | BranchConditional
            | Switch
            | Kill
            | Return
            | ReturnValue
            | Unreachable
            | AbortKHR
            | TerminateInvocation
            | IgnoreIntersectionKHR
            | TerminateRayKHR
            | EmitMeshTasksEXT
    )
}

/// Whether an instruction in a function has a result type and a result.
pub fn has_result(opcode: u16) -> bool {
    let none = matches!(
        opcode,
        Nop | Line | NoLine | Store | MemoryBarrier | ControlBarrier | AtomicStore | LoopMerge | SelectionMerge | Label
    );
    !none && !is_terminator(opcode)
}
