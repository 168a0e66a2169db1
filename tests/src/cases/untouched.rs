//! A device that does not enable the extension works as if the layer were not there.

use super::{GROUPS, marked, same_words};
use crate::assembly::assemble;
use crate::case::{Case, Context};
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Kernel};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("untouched::a_device_without_the_extension_computes", computes).silent(),
    Case::new(
        "untouched::a_shader_without_aborts_on_a_device_with_the_extension",
        no_abort,
    )
    .silent(),
];

/// words[i] += 1000
const ADD: &str = r#"
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main" %id %words
    OpExecutionMode %main LocalSize 32 1 1
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %array ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %words DescriptorSet 0
    OpDecorate %words Binding 0
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %uvec3 = OpTypeVector %uint 3
    %zero = OpConstant %uint 0
    %thousand = OpConstant %uint 1000
    %input = OpTypePointer Input %uvec3
    %id = OpVariable %input Input
    %array = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %array
    %buffer = OpTypePointer StorageBuffer %block
    %element = OpTypePointer StorageBuffer %uint
    %words = OpVariable %buffer StorageBuffer
    %main = OpFunction %void None %function
    %entry = OpLabel
    %invocation = OpLoad %uvec3 %id
    %i = OpCompositeExtract %uint %invocation 0
    %pointer = OpAccessChain %element %words %zero %i
    %value = OpLoad %uint %pointer
    %sum = OpIAdd %uint %value %thousand
    OpStore %pointer %sum
    OpReturn
    OpFunctionEnd
"#;

fn add_on(device: &Device<'_>) -> Result<()> {
    let words = marked(&[3]);
    let buffer = Buffer::storage(device, &words)?;
    let kernel = Kernel::new(device, &assemble(ADD)?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    ensure!(result == vk::Result::SUCCESS, "the dispatch ended with {result:?}");
    same_words(
        &buffer.read(),
        &words.iter().map(|word| word + 1000).collect::<Vec<_>>(),
    )
}

fn computes(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    add_on(&Device::with(&gpu, options)?)
}

fn no_abort(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    add_on(&Device::new(&gpu)?)
}
