//! A module with entry points of several stages that share an aborting function.

use super::support::{GROUPS, MARK, expect_lost, expect_success, marked, same_set, same_words};
use crate::assembly::assemble;
use crate::case::{Case, Context};
use crate::vk::{Buffer, Device, Gpu, Image, Kernel, Pass, Stage, Way};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("shared_callee::in_the_compute_shader", compute).logs(&["(5, 0, 0)"]),
    Case::new("shared_callee::in_the_vertex_shader", |context| draw(context, &[2])).logs(&["vertex 2"]),
    Case::new("shared_callee::in_the_fragment_shader", |context| {
        draw(context, &[3 + 17])
    })
    .logs(&["pixel (17, "]),
    Case::new("shared_callee::in_none_of_them", |context| draw(context, &[])).silent(),
];

/// `check(at)` aborts with {at, words[at]} if words[at] is [`MARK`], and returns words[at] + 1. The compute shader stores
/// the result at 64 + at. The vertex shader checks its vertex, the fragment shader 3 + its column, before they draw.
const MODULE: &str = r#"
    OpCapability Shader
    OpCapability AbortKHR
    OpExtension "SPV_KHR_abort"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %compute "main" %id %words
    OpEntryPoint Vertex %vertex "main" %number %position %words
    OpEntryPoint Fragment %fragment "main" %coord %color %words
    OpExecutionMode %compute LocalSize 32 1 1
    OpExecutionMode %fragment OriginUpperLeft
    OpMemberDecorate %message 0 Offset 0
    OpMemberDecorate %message 1 Offset 4
    OpDecorate %id BuiltIn GlobalInvocationId
    OpDecorate %number BuiltIn VertexIndex
    OpDecorate %position BuiltIn Position
    OpDecorate %coord BuiltIn FragCoord
    OpDecorate %color Location 0
    OpDecorate %array ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %words DescriptorSet 0
    OpDecorate %words Binding 0
    %void = OpTypeVoid
    %entry = OpTypeFunction %void
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %float = OpTypeFloat 32
    %uvec3 = OpTypeVector %uint 3
    %vec4 = OpTypeVector %float 4
    %checks = OpTypeFunction %uint %uint
    %message = OpTypeStruct %uint %uint
    %0 = OpConstant %uint 0
    %1 = OpConstant %uint 1
    %2 = OpConstant %uint 2
    %3 = OpConstant %uint 3
    %64 = OpConstant %uint 64
    %mark = OpConstant %uint MARK
    %f0 = OpConstant %float 0
    %f1 = OpConstant %float 1
    %f3 = OpConstant %float 3
    %minus1 = OpConstant %float -1
    %white = OpConstantComposite %vec4 %f1 %f1 %f1 %f1
    %in_uvec3 = OpTypePointer Input %uvec3
    %in_uint = OpTypePointer Input %uint
    %in_vec4 = OpTypePointer Input %vec4
    %in_float = OpTypePointer Input %float
    %out_vec4 = OpTypePointer Output %vec4
    %id = OpVariable %in_uvec3 Input
    %number = OpVariable %in_uint Input
    %coord = OpVariable %in_vec4 Input
    %position = OpVariable %out_vec4 Output
    %color = OpVariable %out_vec4 Output
    %array = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %array
    %buffer = OpTypePointer StorageBuffer %block
    %element = OpTypePointer StorageBuffer %uint
    %words = OpVariable %buffer StorageBuffer

    %check = OpFunction %uint None %checks
    %at = OpFunctionParameter %uint
    %check_entry = OpLabel
    %pointer = OpAccessChain %element %words %0 %at
    %value = OpLoad %uint %pointer
    %bad = OpIEqual %bool %value %mark
    OpSelectionMerge %fine None
    OpBranchConditional %bad %abort %fine
    %abort = OpLabel
    %composite = OpCompositeConstruct %message %at %value
    OpAbortKHR %message %composite
    %fine = OpLabel
    %more = OpIAdd %uint %value %1
    OpReturnValue %more
    OpFunctionEnd

    %compute = OpFunction %void None %entry
    %compute_entry = OpLabel
    %invocation = OpLoad %uvec3 %id
    %i = OpCompositeExtract %uint %invocation 0
    %checked = OpFunctionCall %uint %check %i
    %behind = OpIAdd %uint %64 %i
    %target = OpAccessChain %element %words %0 %behind
    OpStore %target %checked
    OpReturn
    OpFunctionEnd

    %vertex = OpFunction %void None %entry
    %vertex_entry = OpLabel
    %v = OpLoad %uint %number
    %vertex_checked = OpFunctionCall %uint %check %v
    %is1 = OpIEqual %bool %v %1
    %is2 = OpIEqual %bool %v %2
    %x = OpSelect %float %is1 %f3 %minus1
    %y = OpSelect %float %is2 %f3 %minus1
    %corner = OpCompositeConstruct %vec4 %x %y %f0 %f1
    OpStore %position %corner
    OpReturn
    OpFunctionEnd

    %fragment = OpFunction %void None %entry
    %fragment_entry = OpLabel
    %column = OpAccessChain %in_float %coord %0
    %fx = OpLoad %float %column
    %ux = OpConvertFToU %uint %fx
    %px = OpIAdd %uint %ux %3
    %fragment_checked = OpFunctionCall %uint %check %px
    OpStore %color %white
    OpReturn
    OpFunctionEnd
"#;

fn module() -> Result<Vec<u32>> {
    assemble(&MODULE.replace("MARK", &MARK.to_string()))
}

fn message(at: u32) -> Vec<u8> {
    [at, MARK].iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn compute(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let words = marked(&[5, 38]);
    let buffer = Buffer::storage(&device, &[words.clone(), vec![0; 64]].concat())?;
    let kernel = Kernel::new(&device, &module()?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_lost(result)?;
    same_set(device.payloads()?, vec![message(5), message(38)])?;
    let behind = words.iter().map(|&word| if word == MARK { 0 } else { word + 1 });
    same_words(&buffer.read()[64..], &behind.collect::<Vec<_>>())
}

fn draw(context: &Context, aborting: &[usize]) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let image = Image::new(&device)?;
    let buffer = Buffer::storage(&device, &[marked(aborting), vec![0; 64]].concat())?;
    let module = module()?;
    let stage = |kind| Stage { kind, spirv: &module };
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX),
        stage(vk::ShaderStageFlags::FRAGMENT),
    ];
    let pass = Pass::with(&device, &stages, &[&buffer], Way::Modules)?;
    let submission = pass.record(&image, [0, 0])?;
    let result = submission.run();
    let Some(&at) = aborting.first() else {
        expect_success(result)?;
        ensure!(
            image.texel(63, 63) == [255; 4] && image.texel(0, 0) == [255; 4],
            "not drawn"
        );
        return Ok(());
    };
    expect_lost(result)?;
    let payloads = device.payloads()?;
    ensure!(
        payloads.iter().all(|payload| *payload == message(at as u32)),
        "{payloads:?}"
    );
    // The vertex shader may run more than once for a vertex, the fragment shader runs for each pixel of the column.
    if at > 2 {
        ensure!(payloads.len() == 64, "{} messages", payloads.len());
        for y in 0..64 {
            let pixel = |x| image.texel(x, y);
            ensure!(pixel(17) == [0; 4], "pixel 17 {y} was written: {:?}", pixel(17));
            ensure!(
                pixel(16) == [255; 4] && pixel(18) == [255; 4],
                "a neighbour of 17 {y} was not written"
            );
        }
    }
    ensure!(!payloads.is_empty(), "no message");
    Ok(())
}
