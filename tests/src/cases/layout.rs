//! Message types that current compilers do not emit: every offset and stride is honoured, and gaps are zero.

use super::layout_support::{at, shader, word};
use super::support::{MARK, marked, run_words_to_loss, same_set};
use crate::assembly::assemble;
use crate::case::{Case, Context};
use crate::vk::{Device, Gpu};
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    Case::new("layout::gaps_between_members_are_zero", gaps),
    Case::new("layout::row_major_matrices_and_wide_strides", row_major),
    Case::new("layout::a_bare_scalar", bare_scalar),
    Case::new("layout::member_order_differs_from_offset_order", other_order),
];

/// Checks that invocations 5 and 38 abort with the expected bytes.
fn check(context: &Context, assembly: &str, expected: impl Fn(u32) -> Vec<u8>) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let (_, payloads) = run_words_to_loss(&device, &assemble(assembly)?, &marked(&[5, 38]))?;
    same_set(payloads, vec![expected(5), expected(38)])
}

fn gaps(context: &Context) -> Result<()> {
    let assembly = shader(
        "OpMemberDecorate %type 0 Offset 4
         OpMemberDecorate %type 1 Offset 24
         OpMemberDecorate %type 2 Offset 60",
        "%type = OpTypeStruct %uint %float %uint",
        "%message = OpCompositeConstruct %type %i %f %mark",
    );
    check(context, &assembly, |i| {
        at(&[(4, word(i)), (24, word((i as f32).to_bits())), (60, word(MARK))])
    })
}

fn row_major(context: &Context) -> Result<()> {
    let assembly = shader(
        "OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 0 RowMajor
         OpMemberDecorate %type 0 MatrixStride 16
         OpMemberDecorate %type 1 Offset 32
         OpDecorate %wide ArrayStride 12",
        "%matrix = OpTypeMatrix %vec2 2
         %wide = OpTypeArray %uint %two
         %one = OpConstant %float 1
         %type = OpTypeStruct %matrix %wide",
        "%first = OpCompositeConstruct %vec2 %f %one
         %second = OpCompositeConstruct %vec2 %one %f
         %m = OpCompositeConstruct %matrix %first %second
         %a = OpCompositeConstruct %wide %i %mark
         %message = OpCompositeConstruct %type %m %a",
    );
    check(context, &assembly, |i| {
        let (f, one) = (word((i as f32).to_bits()), word(1f32.to_bits()));
        // Rows of 16 bytes: the first components of both columns, then the second ones.
        at(&[
            (0, f.clone()),
            (4, one.clone()),
            (16, one),
            (20, f),
            (32, word(i)),
            (44, word(MARK)),
        ])
    })
}

fn bare_scalar(context: &Context) -> Result<()> {
    let assembly = shader("", "", "%message = OpIAdd %uint %i %mark").replace("%type", "%uint");
    check(context, &assembly, |i| (i + MARK).to_le_bytes().to_vec())
}

fn other_order(context: &Context) -> Result<()> {
    let assembly = shader(
        "OpMemberDecorate %type 0 Offset 8
         OpMemberDecorate %type 1 Offset 0",
        "%type = OpTypeStruct %uint %uint",
        "%message = OpCompositeConstruct %type %i %mark",
    );
    check(context, &assembly, |i| at(&[(0, word(MARK)), (8, word(i))]))
}
