//! Words of the source language: operators, functions, built-ins.

use crate::spv::op;

/// Names that compilers give to their own variables.
pub(super) fn is_made_up(name: &str) -> bool {
    let generated = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name.is_empty()
        || matches!(generated, "param" | "_" | "%" | "indexable" | "tmp" | "temp")
        || name.starts_with("_dbgvar_")
}

/// The symbol of an operation of two operands.
pub(super) fn operator(opcode: u16) -> Option<&'static str> {
    Some(match opcode {
        op::IAdd | op::FAdd => "+",
        op::ISub | op::FSub => "-",
        op::IMul | op::FMul | op::VectorTimesScalar => "*",
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

/// Functions of `GLSL.std.450` by number.
pub(super) fn glsl_function(number: u32) -> Option<&'static str> {
    Some(match number {
        1 => "round",
        3 => "trunc",
        4 | 5 => "abs",
        6 | 7 => "sign",
        8 => "floor",
        9 => "ceil",
        10 => "fract",
        13 => "sin",
        14 => "cos",
        26 => "pow",
        27 => "exp",
        28 => "log",
        29 => "exp2",
        30 => "log2",
        31 => "sqrt",
        32 => "inversesqrt",
        33 => "determinant",
        37..=39 => "min",
        40..=42 => "max",
        43..=45 => "clamp",
        46 => "mix",
        66 => "length",
        67 => "distance",
        68 => "cross",
        69 => "normalize",
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
