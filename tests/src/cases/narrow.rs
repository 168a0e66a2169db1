//! 16-bit values, which the module may only load and store, across the border of a continue construct that becomes a
//! function.

use super::support::{COUNT, run_words_to_loss, same_set, same_words};
use crate::assembly::assemble;
use crate::case::{Case, Context};
use crate::vk::{Device, Gpu};
use anyhow::Result;
use ash::vk;

pub(super) const CASES: &[Case] = &[Case::new("narrow::in_an_increment", in_an_increment)];

/// `do { v = low half of word 64 + i } while (n = f(n), low half of word 128 + i = v, w = high half, n < 5); high half = w`,
/// where word `i` selects the iteration in which `f` aborts.
const SHADER: &str = r#"
    OpCapability Shader
    OpCapability StorageBuffer16BitAccess
    OpCapability AbortKHR
    OpExtension "SPV_KHR_abort"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main" %id %words %halves
    OpExecutionMode %main LocalSize 32 1 1
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %uints ArrayStride 4
    OpDecorate %uint_block Block
    OpMemberDecorate %uint_block 0 Offset 0
    OpDecorate %pairs ArrayStride 2
    OpDecorate %half_block Block
    OpMemberDecorate %half_block 0 Offset 0
    OpDecorate %words DescriptorSet 0
    OpDecorate %words Binding 0
    OpDecorate %words Aliased
    OpDecorate %halves DescriptorSet 0
    OpDecorate %halves Binding 0
    OpDecorate %halves Aliased
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %half = OpTypeFloat 16
    %uvec3 = OpTypeVector %uint 3
    %zero = OpConstant %uint 0
    %one = OpConstant %uint 1
    %two = OpConstant %uint 2
    %five = OpConstant %uint 5
    %source = OpConstant %uint 128
    %target = OpConstant %uint 256
    %input = OpTypePointer Input %uvec3
    %uints = OpTypeRuntimeArray %uint
    %uint_block = OpTypeStruct %uints
    %ptr_uint_block = OpTypePointer StorageBuffer %uint_block
    %ptr_uint = OpTypePointer StorageBuffer %uint
    %pairs = OpTypeRuntimeArray %half
    %half_block = OpTypeStruct %pairs
    %ptr_half_block = OpTypePointer StorageBuffer %half_block
    %ptr_half = OpTypePointer StorageBuffer %half
    %id = OpVariable %input Input
    %words = OpVariable %ptr_uint_block StorageBuffer
    %halves = OpVariable %ptr_half_block StorageBuffer
    %procedure = OpTypeFunction %void
    %taking = OpTypeFunction %uint %uint %uint
    %f = OpFunction %uint None %taking
    %n = OpFunctionParameter %uint
    %at = OpFunctionParameter %uint
    %f_entry = OpLabel
    %bad = OpIEqual %bool %n %at
    OpSelectionMerge %fine None
    OpBranchConditional %bad %stop %fine
    %stop = OpLabel
    OpAbortKHR %uint %n
    %fine = OpLabel
    %sum = OpIAdd %uint %n %one
    OpReturnValue %sum
    OpFunctionEnd
    %main = OpFunction %void None %procedure
    %entry = OpLabel
    %invocation = OpLoad %uvec3 %id
    %i = OpCompositeExtract %uint %invocation 0
    %own = OpAccessChain %ptr_uint %words %zero %i
    %when = OpLoad %uint %own
    %twice = OpIMul %uint %i %two
    %from_low = OpIAdd %uint %twice %source
    %from_high = OpIAdd %uint %from_low %one
    %to_low = OpIAdd %uint %twice %target
    %to_high = OpIAdd %uint %to_low %one
    %source_low = OpAccessChain %ptr_half %halves %zero %from_low
    %source_high = OpAccessChain %ptr_half %halves %zero %from_high
    %target_low = OpAccessChain %ptr_half %halves %zero %to_low
    %target_high = OpAccessChain %ptr_half %halves %zero %to_high
    OpBranch %header
    %header = OpLabel
    %count = OpPhi %uint %zero %entry %next %again
    OpLoopMerge %merge %again None
    OpBranch %body
    %body = OpLabel
    %v = OpLoad %half %source_low
    OpBranch %again
    %again = OpLabel
    %next = OpFunctionCall %uint %f %count %when
    OpStore %target_low %v
    %w = OpLoad %half %source_high
    %more = OpULessThan %bool %next %five
    OpBranchConditional %more %header %merge
    %merge = OpLabel
    OpStore %target_high %w
    OpReturn
    OpFunctionEnd
"#;

fn in_an_increment(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let mut storage = vk::PhysicalDevice16BitStorageFeatures::default();
    gpu.ask(&mut storage);
    gpu.require(storage.storage_buffer16_bit_access, "storage of 16-bit values")?;
    let device = Device::new(&gpu)?;
    let count = COUNT as u32;
    let when = (0..count).map(|i| i % 7);
    // Two normal halves in each.
    let halves = (0..count).map(|i| (0x4000 + i) << 16 | (0x3C00 + i));
    let before: Vec<u32> = when
        .clone()
        .chain(halves.clone())
        .chain((0..count).map(|_| 0))
        .collect();
    let (after, payloads) = run_words_to_loss(&device, &assemble(SHADER)?, &before)?;
    let stored = when.clone().zip(halves.clone()).map(|(at, word)| match at {
        0 => 0,
        1..5 => word & 0xFFFF,
        _ => word,
    });
    let expected: Vec<u32> = when.clone().chain(halves.clone()).chain(stored).collect();
    let messages = when.filter(|at| *at < 5).map(|at| at.to_le_bytes().to_vec());
    same_set(payloads, messages.collect())?;
    same_words(&after, &expected)
}
