//! Named sets of opcodes.
//!
//! Ranges follow the numbering of the SPIR-V specification, "Instructions", which groups instructions of one kind.

use super::{Id, Inst, op, operands};

/// Whether an opcode is missing from the operand table: an instruction of an extension newer than the table.
pub fn is_unknown(opcode: u16) -> bool {
    operands::pattern(opcode).is_none()
}

/// Atomic instructions that return a value read from memory.
pub fn is_atomic_read(opcode: u16) -> bool {
    matches!(
        opcode,
        op::AtomicLoad | op::AtomicExchange
            ..=op::AtomicXor | op::AtomicFlagTestAndSet | op::AtomicFMinEXT | op::AtomicFMaxEXT | op::AtomicFAddEXT
    )
}

/// The pointer that an access chain or a copy of a pointer is formed from. `None` for other instructions.
pub fn base_pointer(inst: &Inst<'_>) -> Option<Id> {
    match inst.opcode() {
        op::AccessChain
        | op::InBoundsAccessChain
        | op::PtrAccessChain
        | op::InBoundsPtrAccessChain
        | op::RawAccessChainNV
        | op::CopyObject => Some(inst.id(3)),
        opcode if is_untyped_chain(opcode) => Some(inst.id(4)),
        _ => None,
    }
}

/// Access chains whose first operand is the type that the base points to (`SPV_KHR_untyped_pointers`).
pub fn is_untyped_chain(opcode: u16) -> bool {
    matches!(
        opcode,
        op::UntypedAccessChainKHR
            | op::UntypedInBoundsAccessChainKHR
            | op::UntypedPtrAccessChainKHR
            | op::UntypedInBoundsPtrAccessChainKHR
    )
}

/// Instructions that write no memory and read none but through `OpLoad`.
pub fn writes_no_memory(opcode: u16) -> bool {
    matches!(
        opcode,
        op::Undef
            | op::Load
            | op::AccessChain..=op::ArrayLength
            | op::VectorExtractDynamic..=op::Transpose
            | op::ConvertFToU..=op::SMulExtended
            | op::Any..=op::FUnordGreaterThanEqual
            | op::ShiftRightLogical..=op::BitCount
            | op::CopyLogical
            | op::Line
            | op::NoLine
    )
}

/// Instructions that are defined for all operands and have no effect but their result. Excludes division, shifts, dynamic
/// indexing and float-to-integer conversion, which are undefined for some.
pub fn is_total(opcode: u16) -> bool {
    matches!(
        opcode,
        op::VectorShuffle..=op::CopyObject
            | op::ConvertSToF..=op::FConvert
            | op::Bitcast
            | op::SNegate..=op::FMul
            | op::FDiv
            | op::VectorTimesScalar..=op::SMulExtended
            | op::Any..=op::IsInf
            | op::LogicalEqual..=op::FUnordGreaterThanEqual
            | op::BitwiseOr..=op::Not
            | op::Line
            | op::NoLine
            | op::CopyLogical
    )
}

/// Types and constants that have no effect but their result.
pub fn is_type_or_constant(opcode: u16) -> bool {
    matches!(
        opcode,
        op::TypeVoid..=op::TypeVector
            | op::TypeArray
            | op::TypeStruct
            | op::TypePointer
            | op::TypeVectorIdEXT
            | op::ConstantTrue..=op::ConstantNull
            | op::SpecConstantTrue..=op::SpecConstantOp
            | op::ConstantDataKHR
            | op::SpecConstantDataKHR
    )
}

/// Decorations and decoration groups, without those that give a group to targets.
pub(crate) fn is_decoration(opcode: u16) -> bool {
    matches!(
        opcode,
        op::Decorate
            | op::MemberDecorate
            | op::DecorationGroup
            | op::DecorateId
            | op::MemberDecorateIdEXT
            | op::DecorateString
            | op::MemberDecorateString
    )
}

/// Operations in which invocations of a subgroup or quad take part.
pub fn is_subgroup_operation(opcode: u16) -> bool {
    matches!(
        opcode,
        op::GroupNonUniformElect..=op::GroupNonUniformQuadSwap
            | op::GroupNonUniformPartitionNV
            | op::GroupNonUniformRotateKHR
            | op::GroupNonUniformQuadAllKHR
            | op::GroupNonUniformQuadAnyKHR
            | op::SubgroupBallotKHR..=op::SubgroupReadInvocationKHR
    )
}

/// Loads and stores of cooperative matrices, through a pointer.
pub fn is_cooperative_access(opcode: u16) -> bool {
    matches!(
        opcode,
        op::CooperativeMatrixLoadKHR
            | op::CooperativeMatrixStoreKHR
            | op::CooperativeMatrixLoadNV
            | op::CooperativeMatrixStoreNV
    )
}

/// Halves of a barrier (`SPV_INTEL_split_barrier`).
pub fn is_split_barrier(opcode: u16) -> bool {
    matches!(opcode, op::ControlBarrierArriveINTEL | op::ControlBarrierWaitINTEL)
}

/// Variables and parameters, which pointers point into.
pub fn is_memory_object(opcode: u16) -> bool {
    matches!(opcode, op::Variable | op::UntypedVariableKHR | op::FunctionParameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(set: fn(u16) -> bool) -> Vec<u16> {
        let all = 0..=u16::MAX;
        all.filter(|opcode| !is_unknown(*opcode) && set(*opcode)).collect()
    }

    #[test]
    fn sets_hold_these_opcodes() {
        let numbered = |ranges: &[std::ops::RangeInclusive<u16>]| -> Vec<u16> {
            let all = ranges.iter().cloned().flatten();
            all.filter(|opcode| !is_unknown(*opcode)).collect()
        };
        assert_eq!(
            members(is_atomic_read),
            numbered(&[227..=227, 229..=242, 318..=318, 5614..=5615, 6035..=6035])
        );
        assert_eq!(
            members(writes_no_memory),
            numbered(&[
                1..=1,
                8..=8,
                61..=61,
                65..=68,
                77..=84,
                109..=152,
                154..=191,
                194..=205,
                317..=317,
                400..=400
            ])
        );
        assert_eq!(
            members(is_type_or_constant),
            numbered(&[
                19..=23,
                28..=28,
                30..=30,
                32..=32,
                41..=46,
                48..=52,
                5147..=5148,
                5288..=5288
            ])
        );
    }
}
