//! Opcodes and enumerants by their SPIR-V names: from the `spirv` crate where it has them, ours for the three new
//! extensions. Constants rather than enums: a module may contain any number, and constants work in patterns.

#![allow(non_upper_case_globals)]

macro_rules! from_spirv {
    ($ty:ty; $kind:ident: $($name:ident)*) => { $(pub const $name: $ty = spirv::$kind::$name as $ty;)* };
}

from_spirv! { u16; Op:
    Undef Source SourceContinued SourceExtension Name MemberName String Line NoLine ModuleProcessed Extension ExtInstImport
    ExtInst MemoryModel EntryPoint ExecutionMode ExecutionModeId Capability
    TypeVoid TypeBool TypeInt TypeFloat TypeVector TypeMatrix TypeImage TypeSampler TypeSampledImage TypeArray
    TypeRuntimeArray TypeStruct TypeOpaque TypePointer TypeFunction TypeAccelerationStructureKHR
    TypeRayQueryKHR TypeUntypedPointerKHR TypeCooperativeMatrixKHR TypeCooperativeMatrixNV
    ConvertUToAccelerationStructureKHR
    ConstantTrue ConstantFalse Constant ConstantComposite ConstantNull SpecConstant
    SpecConstantTrue SpecConstantFalse
    SpecConstantComposite SpecConstantOp
    Function FunctionParameter FunctionEnd FunctionCall Variable UntypedVariableKHR Load Store CopyMemory AccessChain
    InBoundsAccessChain PtrAccessChain ArrayLength InBoundsPtrAccessChain RawAccessChainNV ImageTexelPointer
    Decorate MemberDecorate DecorationGroup GroupDecorate GroupMemberDecorate DecorateId DecorateString
    MemberDecorateString MemberDecorateIdEXT
    VectorExtractDynamic VectorInsertDynamic Transpose VectorShuffle CompositeConstruct CompositeExtract CompositeInsert
    CopyObject CopyLogical SampledImage Image
    GroupNonUniformBroadcast GroupNonUniformBroadcastFirst GroupNonUniformShuffle GroupNonUniformShuffleDown
    GroupNonUniformQuadBroadcast GroupNonUniformQuadSwap GroupNonUniformRotateKHR SubgroupReadInvocationKHR
    SubgroupFirstInvocationKHR
    ConvertFToU ConvertFToS ConvertSToF ConvertUToF UConvert SConvert FConvert Bitcast
    SNegate FNegate IAdd FAdd ISub FSub IMul FMul SDiv UDiv FDiv SRem SMod UMod FRem FMod VectorTimesScalar MatrixTimesScalar VectorTimesMatrix
        MatrixTimesVector Dot SMulExtended
    ShiftRightLogical ShiftRightArithmetic ShiftLeftLogical BitwiseOr BitwiseXor BitwiseAnd Not BitFieldInsert BitFieldSExtract BitFieldUExtract BitReverse BitCount Any All IsNan IsInf
    LogicalEqual LogicalNotEqual LogicalOr LogicalAnd LogicalNot Select IEqual INotEqual UGreaterThan UGreaterThanEqual
    ULessThan ULessThanEqual SGreaterThan SGreaterThanEqual SLessThan SLessThanEqual
    FOrdEqual FUnordEqual FOrdNotEqual FUnordNotEqual FOrdLessThan FUnordLessThan FOrdGreaterThan FUnordGreaterThan
    FOrdLessThanEqual FUnordLessThanEqual FOrdGreaterThanEqual FUnordGreaterThanEqual
    ImageSampleImplicitLod ImageSampleExplicitLod ImageSampleDrefImplicitLod ImageSampleProjImplicitLod ImageSampleProjDrefImplicitLod
    ImageSparseSampleImplicitLod ImageSparseSampleDrefImplicitLod ImageSparseSampleProjImplicitLod
    CooperativeMatrixLoadKHR CooperativeMatrixStoreKHR CooperativeMatrixLoadNV CooperativeMatrixStoreNV
    ControlBarrierArriveINTEL ControlBarrierWaitINTEL GroupNonUniformPartitionNV
    ImageSparseSampleProjDrefImplicitLod ImageQueryLod GroupNonUniformElect GroupNonUniformQuadAllKHR
    GroupNonUniformQuadAnyKHR SubgroupBallotKHR
    ControlBarrier MemoryBarrier ImageFetch ImageRead ImageWrite ImageSparseRead ImageQuerySamples DPdx FwidthCoarse
    AtomicLoad AtomicStore AtomicExchange AtomicIAdd AtomicUMax AtomicOr AtomicXor AtomicFlagTestAndSet AtomicFMinEXT AtomicFMaxEXT
    AtomicFAddEXT
    AssumeTrueKHR
    Phi LoopMerge SelectionMerge Label Branch BranchConditional Switch Kill Return ReturnValue Unreachable
    TerminateInvocation DemoteToHelperInvocation EmitMeshTasksEXT IgnoreIntersectionKHR TerminateRayKHR
    EmitVertex EmitStreamVertex
}

/// `SPV_KHR_abort`.
pub const AbortKHR: u16 = 5121;
/// `SPV_KHR_constant_data`.
pub const ConstantDataKHR: u16 = 5147;
/// `SPV_KHR_constant_data`.
pub const SpecConstantDataKHR: u16 = 5148;
/// `SPV_KHR_poison_freeze`.
pub const PoisonKHR: u16 = 5158;
/// `SPV_KHR_poison_freeze`.
pub const FreezeKHR: u16 = 5159;

/// `SPV_KHR_untyped_pointers`.
pub const UntypedAccessChainKHR: u16 = 4419;
/// `SPV_KHR_untyped_pointers`.
pub const UntypedInBoundsAccessChainKHR: u16 = 4420;
/// `SPV_KHR_untyped_pointers`.
pub(crate) const UntypedPtrAccessChainKHR: u16 = 4423;
/// `SPV_KHR_untyped_pointers`.
pub(crate) const UntypedInBoundsPtrAccessChainKHR: u16 = 4424;
/// `SPV_EXT_descriptor_heap`.
pub const BufferPointerEXT: u16 = 5119;
/// `SPV_EXT_descriptor_heap`.
pub const UntypedImageTexelPointerEXT: u16 = 5126;
/// `SPV_EXT_long_vector`.
pub const TypeVectorIdEXT: u16 = 5288;

/// Instructions of `GLSL.std.450`.
pub mod glsl {
    from_spirv! { u32; GlslStd450Op:
        Round Trunc FAbs SAbs FSign SSign Floor Ceil Fract Sin Cos Tan Asin Acos Sinh Cosh Acosh Atanh Atan2 Pow Exp Log Exp2 Log2 Sqrt InverseSqrt
        Determinant Modf FMin UMin SMin FMax UMax SMax FClamp UClamp SClamp FMix Step SmoothStep Fma Frexp Length Distance Cross
        Normalize Reflect Refract FindILsb FindSMsb FindUMsb InterpolateAtCentroid
        InterpolateAtSample InterpolateAtOffset NMin NMax NClamp Ldexp FrexpStruct MatrixInverse PackHalf2x16
    }
}

/// Capabilities.
pub mod capability {
    from_spirv! { u32; Capability:
        Int8 Int16 Float16 PhysicalStorageBufferAddresses VulkanMemoryModelDeviceScope VariablePointers VariablePointersStorageBuffer
        WorkgroupMemoryExplicitLayoutKHR GroupNonUniform GroupNonUniformQuad GroupNonUniformPartitionedNV
        GroupNonUniformRotateKHR Groups SubgroupBallotKHR SubgroupVoteKHR CooperativeMatrixKHR CooperativeMatrixNV
        CooperativeMatrixReductionsNV CooperativeMatrixPerElementOperationsNV
        ComputeDerivativeGroupQuadsKHR ComputeDerivativeGroupLinearKHR GroupUniformArithmeticKHR QuadControlKHR SubgroupShuffleINTEL
        RayTracingKHR RayTracingNV
    }
    pub const AbortKHR: u32 = 5120;
    pub const ConstantDataKHR: u32 = 5146;
    pub(crate) const PoisonFreezeKHR: u32 = 5156;
}

/// Decorations.
pub mod decoration {
    from_spirv! { u32; Decoration:
        SpecId Block RowMajor ArrayStride MatrixStride BuiltIn Volatile Coherent NonReadable NoContraction FPRoundingMode Offset FPFastMathMode NoSignedWrap
        NoUnsignedWrap NonWritable BufferBlock Aliased NonUniform AliasedPointer RestrictPointer
        DescriptorSet Binding
    }
    pub const UTFEncodedKHR: u32 = 5145;
}

/// Execution modes.
pub mod execution_mode {
    from_spirv! { u32; ExecutionMode: LocalSize LocalSizeId Invocations OutputVertices SignedZeroInfNanPreserve FPFastMathDefault }
    pub const ArithmeticPoisonKHR: u32 = 5157;
}

/// Execution models.
pub mod execution_model {
    from_spirv! { u32; ExecutionModel: GLCompute }
}

/// Storage classes.
pub mod storage_class {
    from_spirv! { u32; StorageClass:
        UniformConstant Input Output Uniform Workgroup Private Function PushConstant StorageBuffer
        PhysicalStorageBuffer TaskPayloadWorkgroupEXT
    }
}

/// Built-ins.
pub mod built_in {
    from_spirv! { u32; BuiltIn:
        PrimitiveId InvocationId FragCoord SampleId NumWorkgroups WorkgroupSize WorkgroupId SubgroupId HelperInvocation SubgroupLocalInvocationId GlobalInvocationId LocalInvocationId
        LocalInvocationIndex VertexIndex InstanceIndex LaunchIdKHR
    }
}

/// Addressing models.
pub mod addressing_model {
    from_spirv! { u32; AddressingModel: Logical PhysicalStorageBuffer64 }
}

/// Memory models.
pub mod memory_model {
    from_spirv! { u32; MemoryModel: Vulkan }
}

/// Scopes.
pub mod scope {
    from_spirv! { u32; Scope: Device Workgroup QueueFamily }
}

/// Bits of memory operands.
pub mod memory_operands {
    pub const VOLATILE: u32 = 0x1;
    pub const ALIGNED: u32 = 0x2;
    pub const MAKE_POINTER_AVAILABLE: u32 = 0x8;
    pub const MAKE_POINTER_VISIBLE: u32 = 0x10;
    pub const NON_PRIVATE_POINTER: u32 = 0x20;
    const ALIAS_SCOPES: u32 = 0x1_0000 | 0x2_0000;

    /// Words of the memory operands with these bits, the bits included.
    pub const fn words(bits: u32) -> usize {
        let with_operand = ALIGNED | MAKE_POINTER_AVAILABLE | MAKE_POINTER_VISIBLE | ALIAS_SCOPES;
        1 + (bits & with_operand).count_ones() as usize
    }
}

/// Bits of loop controls.
pub mod loop_control {
    pub const DONT_UNROLL: u32 = 0x2;
    pub(crate) const DEPENDENCY_INFINITE: u32 = 0x4;
    /// With an operand, the first of those of a loop control.
    pub(crate) const DEPENDENCY_LENGTH: u32 = 0x8;
}

/// Bits of image operands.
pub mod image_operands {
    pub const MAKE_TEXEL_VISIBLE: u32 = 0x200;
    pub const VOLATILE_TEXEL: u32 = 0x800;
}

/// Bits of memory semantics.
pub mod memory_semantics {
    pub const ACQUIRE: u32 = 0x2;
    pub const RELEASE: u32 = 0x4;
    pub const ACQUIRE_RELEASE: u32 = 0x8;
    pub const SEQUENTIALLY_CONSISTENT: u32 = 0x10;
    pub const UNIFORM_MEMORY: u32 = 0x40;
    pub const WORKGROUP_MEMORY: u32 = 0x100;
    pub const MAKE_AVAILABLE: u32 = 0x2000;
}

/// Whether an instruction ends a block.
pub(crate) fn is_terminator(opcode: u16) -> bool {
    const DEMOTING_TERMINATORS: [u16; 3] = [TerminateInvocation, IgnoreIntersectionKHR, TerminateRayKHR];
    matches!(
        opcode,
        Branch | BranchConditional | Switch | Kill | Return | ReturnValue | Unreachable
    ) || matches!(opcode, AbortKHR | EmitMeshTasksEXT)
        || DEMOTING_TERMINATORS.contains(&opcode)
}
