//! Words of the source language: operators, functions, built-ins.

use vkabort_spirv::op::{self, glsl};
use vkabort_spirv::words::NAGA;

/// Whether the compiler with this number gives the name to a variable of its own.
pub(super) fn is_made_up(name: &str, generator: u32) -> bool {
    let generated = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_of_naga = generator == NAGA && generated.trim_end_matches('_') == "loop_bound";
    name.is_empty()
        || matches!(generated, "param" | "_" | "%" | "indexable" | "tmp" | "temp")
        || name.starts_with("_dbgvar_")
        || is_of_naga
}

/// The symbol of an operation of two operands.
pub(super) fn operator(opcode: u16) -> Option<&'static str> {
    Some(match opcode {
        op::IAdd | op::FAdd => "+",
        op::ISub | op::FSub => "-",
        op::IMul | op::FMul | op::VectorTimesScalar..=MATRIX_TIMES_MATRIX => "*",
        op::UDiv | op::SDiv | op::FDiv => "/",
        op::UMod | op::SMod | op::SRem => "%",
        op::BitwiseAnd => "&",
        op::BitwiseOr => "|",
        op::BitwiseXor => "^",
        op::ShiftLeftLogical => "<<",
        op::ShiftRightLogical | op::ShiftRightArithmetic => ">>",
        _ => return None,
    })
}

/// The symbol of an operation of one operand.
pub(super) fn prefix(opcode: u16) -> Option<&'static str> {
    match opcode {
        op::SNegate | op::FNegate => Some("-"),
        op::Not => Some("~"),
        _ => None,
    }
}

/// The last of the products of vectors and matrices.
const MATRIX_TIMES_MATRIX: u16 = spirv::Op::MatrixTimesMatrix as u16;

/// Operations that are functions in GLSL, with the words of the arguments that are shown.
pub(super) fn function(opcode: u16) -> Option<(&'static str, &'static [usize])> {
    use spirv::Op;
    const FUNCTIONS: [(Op, &str, &[usize]); 28] = [
        (Op::ConvertSToF, "float", &[3]),
        (Op::ConvertUToF, "float", &[3]),
        (Op::ConvertFToS, "int", &[3]),
        (Op::ConvertFToU, "uint", &[3]),
        (Op::BitCount, "bitCount", &[3]),
        (Op::BitReverse, "bitfieldReverse", &[3]),
        (Op::BitFieldUExtract, "bitfieldExtract", &[3, 4, 5]),
        (Op::BitFieldSExtract, "bitfieldExtract", &[3, 4, 5]),
        (Op::FMod, "mod", &[3, 4]),
        (Op::Dot, "dot", &[3, 4]),
        (Op::Transpose, "transpose", &[3]),
        (Op::ImageQuerySize, "imageSize", &[3]),
        (Op::ImageQuerySizeLod, "textureSize", &[3, 4]),
        (Op::ImageRead, "imageLoad", &[3, 4]),
        (Op::ImageFetch, "texelFetch", &[3, 4]),
        (Op::ImageSampleImplicitLod, "texture", &[3, 4]),
        (Op::ImageSampleExplicitLod, "texture", &[3, 4]),
        (Op::GroupNonUniformBroadcast, "subgroupBroadcast", &[4, 5]),
        (Op::GroupNonUniformBroadcastFirst, "subgroupBroadcastFirst", &[4]),
        (Op::GroupNonUniformShuffle, "subgroupShuffle", &[4, 5]),
        (Op::GroupNonUniformIAdd, "subgroupAdd", &[5]),
        (Op::GroupNonUniformFAdd, "subgroupAdd", &[5]),
        (Op::GroupNonUniformSMin, "subgroupMin", &[5]),
        (Op::GroupNonUniformUMin, "subgroupMin", &[5]),
        (Op::GroupNonUniformFMin, "subgroupMin", &[5]),
        (Op::GroupNonUniformSMax, "subgroupMax", &[5]),
        (Op::GroupNonUniformUMax, "subgroupMax", &[5]),
        (Op::GroupNonUniformFMax, "subgroupMax", &[5]),
    ];
    let found = FUNCTIONS.iter().find(|(of, ..)| *of as u16 == opcode);
    found.map(|(_, name, arguments)| (*name, *arguments))
}

/// The function of GLSL that an atomic operation is, which returns the value before it.
pub(super) fn atomic_function(opcode: u16) -> Option<&'static str> {
    use spirv::Op;
    const FUNCTIONS: [(Op, &str); 13] = [
        (Op::AtomicExchange, "atomicExchange"),
        (Op::AtomicCompareExchange, "atomicCompSwap"),
        (Op::AtomicIIncrement, "atomicAdd"),
        (Op::AtomicIDecrement, "atomicSub"),
        (Op::AtomicIAdd, "atomicAdd"),
        (Op::AtomicISub, "atomicSub"),
        (Op::AtomicSMin, "atomicMin"),
        (Op::AtomicUMin, "atomicMin"),
        (Op::AtomicSMax, "atomicMax"),
        (Op::AtomicUMax, "atomicMax"),
        (Op::AtomicAnd, "atomicAnd"),
        (Op::AtomicOr, "atomicOr"),
        (Op::AtomicXor, "atomicXor"),
    ];
    let found = FUNCTIONS.iter().find(|(of, _)| *of as u16 == opcode);
    found.map(|(_, name)| *name)
}

/// Functions of `GLSL.std.450` by number.
pub(super) fn glsl_function(number: u32) -> Option<&'static str> {
    Some(match number {
        glsl::Round => "round",
        glsl::Trunc => "trunc",
        glsl::FAbs | glsl::SAbs => "abs",
        glsl::FSign | glsl::SSign => "sign",
        glsl::Floor => "floor",
        glsl::Ceil => "ceil",
        glsl::Fract => "fract",
        glsl::Sin => "sin",
        glsl::Cos => "cos",
        glsl::Tan => "tan",
        glsl::Atan2 => "atan",
        glsl::Pow => "pow",
        glsl::Exp => "exp",
        glsl::Log => "log",
        glsl::Exp2 => "exp2",
        glsl::Log2 => "log2",
        glsl::Sqrt => "sqrt",
        glsl::InverseSqrt => "inversesqrt",
        glsl::Determinant => "determinant",
        glsl::FMin | glsl::UMin | glsl::SMin => "min",
        glsl::FMax | glsl::UMax | glsl::SMax => "max",
        glsl::FClamp | glsl::UClamp | glsl::SClamp => "clamp",
        glsl::FMix => "mix",
        glsl::Step => "step",
        glsl::SmoothStep => "smoothstep",
        glsl::Fma => "fma",
        glsl::Length => "length",
        glsl::Distance => "distance",
        glsl::Cross => "cross",
        glsl::Normalize => "normalize",
        glsl::Reflect => "reflect",
        glsl::FindILsb => "findLSB",
        glsl::FindSMsb | glsl::FindUMsb => "findMSB",
        _ => return None,
    })
}

/// Names of built-ins in GLSL.
pub(super) fn built_in_name(built_in: u32) -> Option<&'static str> {
    use spirv::BuiltIn;
    const NAMES: [(BuiltIn, &str); 14] = [
        (BuiltIn::GlobalInvocationId, "gl_GlobalInvocationID"),
        (BuiltIn::LocalInvocationId, "gl_LocalInvocationID"),
        (BuiltIn::LocalInvocationIndex, "gl_LocalInvocationIndex"),
        (BuiltIn::WorkgroupId, "gl_WorkGroupID"),
        (BuiltIn::NumWorkgroups, "gl_NumWorkGroups"),
        (BuiltIn::VertexIndex, "gl_VertexIndex"),
        (BuiltIn::InstanceIndex, "gl_InstanceIndex"),
        (BuiltIn::FragCoord, "gl_FragCoord"),
        (BuiltIn::FrontFacing, "gl_FrontFacing"),
        (BuiltIn::PrimitiveId, "gl_PrimitiveID"),
        (BuiltIn::InvocationId, "gl_InvocationID"),
        (BuiltIn::SampleId, "gl_SampleID"),
        (BuiltIn::LaunchIdKHR, "gl_LaunchIDEXT"),
        (BuiltIn::LaunchSizeKHR, "gl_LaunchSizeEXT"),
    ];
    let found = NAMES.iter().find(|(number, _)| *number as u32 == built_in);
    found.map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_nagas_loops_are_made_up() {
        assert!(is_made_up("loop_bound", NAGA) && is_made_up("loop_bound_1", NAGA));
        assert!(!is_made_up("loop_bound", 8));
    }
}
