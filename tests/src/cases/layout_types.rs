//! Message types in layouts that compilers may emit: physical pointers, arrays of specialised length, gaps at any depth,
//! overlapping members, odd offsets, and no layout at all.

use super::layout_support::{at, check, on_device, payloads, shader, with_capability, word};
use super::support::{MARK, marked, same_set};
use crate::case::{Case, Context};
use crate::vk::{Device, DeviceOptions, Gpu};
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    Case::new("layout_types::physical_pointers", pointers),
    Case::new("layout_types::arrays_of_specialised_length", specialised),
    Case::new("layout_types::a_specialised_length_beyond_the_limit", beyond_the_limit),
    Case::new("layout_types::gaps_at_every_depth", gaps),
    // The validation layer rejects these layouts, which violate the explicit layout rules.
    Case::new("layout_types::overlapping_members", overlap).on_top(),
    Case::new("layout_types::wide_members_at_narrow_offsets", wide_at_narrow).on_top(),
    Case::new("layout_types::members_at_odd_offsets", odd).on_top(),
    Case::new("layout_types::no_layout_at_all", none).on_top(),
    Case::new("layout_types::a_structure_without_members", empty),
    Case::new("layout_types::a_value_of_a_matching_type", matching),
];

fn pointers(context: &Context) -> Result<()> {
    let decorations = "OpMemberDecorate %pointee 0 Offset 0
         OpDecorate %pointee Block
         OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 1 Offset 8
         OpMemberDecorate %type 2 Offset 16
         OpDecorate %addresses ArrayStride 8";
    let types = "%uvec2 = OpTypeVector %uint 2
         %pointee = OpTypeStruct %uint
         %address = OpTypePointer PhysicalStorageBuffer %pointee
         %addresses = OpTypeArray %address %two
         %type = OpTypeStruct %uint %address %addresses";
    let body = "%both = OpCompositeConstruct %uvec2 %i %mark
         %swapped = OpCompositeConstruct %uvec2 %mark %i
         %p = OpBitcast %address %both
         %q = OpBitcast %address %swapped
         %several = OpCompositeConstruct %addresses %q %p
         %message = OpCompositeConstruct %type %i %p %several";
    let assembly = with_capability(&shader(decorations, types, body), "PhysicalStorageBufferAddresses")
        .replace("OpMemoryModel Logical", "OpMemoryModel PhysicalStorageBuffer64");
    let gpu = Gpu::open(context)?;
    let options = DeviceOptions {
        buffer_device_address: true,
        ..DeviceOptions::default()
    };
    let device = Device::with(&gpu, options)?;
    check(&device, &assembly, &[], |i| {
        at(&[
            (0, word(i)),
            (8, [word(i), word(MARK)].concat()),
            (16, [word(MARK), word(i), word(i), word(MARK)].concat()),
        ])
    })
}

/// A message that specialisation makes too large is not recorded, and does not displace other messages.
fn beyond_the_limit(context: &Context) -> Result<()> {
    let decorations = "OpDecorate %length SpecId 4
         OpDecorate %several ArrayStride 4
         OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 1 Offset 4";
    let types = "%length = OpSpecConstant %uint 3
         %several = OpTypeArray %uint %length
         %type = OpTypeStruct %uint %several
         %null = OpConstantNull %several
         %oversized = OpConstant %uint 38";
    let body = "%large = OpIEqual %bool %i %oversized
         OpSelectionMerge %rest None
         OpBranchConditional %large %rest %short
         %short = OpLabel
         OpAbortKHR %uint %i
         %rest = OpLabel
         %message = OpCompositeConstruct %type %i %null";
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    let payloads = payloads(
        &device,
        &shader(decorations, types, body),
        &[(4, 1 << 20)],
        &[5, 38, 60],
    )?;
    same_set(payloads, vec![word(5), word(60)])
}

/// Loads an array of specialised length from the buffer.
fn specialised(context: &Context) -> Result<()> {
    let decorations = "OpDecorate %length SpecId 4
         OpDecorate %several ArrayStride 4
         OpDecorate %loaded Block
         OpMemberDecorate %loaded 0 Offset 0
         OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 1 Offset 4
         OpDecorate %other DescriptorSet 0
         OpDecorate %other Binding 0";
    let types = "%length = OpSpecConstant %uint 3
         %double = OpSpecConstantOp %uint IMul %length %two
         %several = OpTypeArray %uint %double
         %loaded = OpTypeStruct %several
         %loaded_pointer = OpTypePointer StorageBuffer %loaded
         %several_pointer = OpTypePointer StorageBuffer %several
         %other = OpVariable %loaded_pointer StorageBuffer
         %type = OpTypeStruct %uint %several";
    let body = "%place = OpAccessChain %several_pointer %other %zero
         %all = OpLoad %several %place
         %message = OpCompositeConstruct %type %i %all";
    let assembly = shader(decorations, types, body).replace("%id %words\n", "%id %words %other\n");
    let gpu = Gpu::open(context)?;
    for (special, count) in [(None, 6), (Some(1), 2), (Some(20), 40)] {
        let device = Device::new(&gpu)?;
        let special: Vec<_> = special.map(|length| (4, length)).into_iter().collect();
        let words = marked(&[5, 38]);
        check(&device, &assembly, &special, |i| {
            let all = words[..count].iter().flat_map(|word| word.to_le_bytes());
            word(i).into_iter().chain(all).collect()
        })?;
    }
    Ok(())
}

fn gaps(context: &Context) -> Result<()> {
    let decorations = "OpMemberDecorate %inner 0 Offset 4
         OpMemberDecorate %inner 1 Offset 16
         OpMemberDecorate %part 0 Offset 0
         OpMemberDecorate %part 1 Offset 12
         OpDecorate %parts ArrayStride 20
         OpMemberDecorate %middle 0 Offset 8
         OpMemberDecorate %middle 1 Offset 40
         OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 1 Offset 16
         OpMemberDecorate %type 2 Offset 120";
    let types = "%uvec2 = OpTypeVector %uint 2
         %inner = OpTypeStruct %float %uvec2
         %part = OpTypeStruct %uint %float
         %parts = OpTypeArray %part %two
         %middle = OpTypeStruct %inner %parts
         %type = OpTypeStruct %uint %middle %uint";
    let body = "%pair = OpCompositeConstruct %uvec2 %i %mark
         %in = OpCompositeConstruct %inner %f %pair
         %p0 = OpCompositeConstruct %part %mark %f
         %p1 = OpCompositeConstruct %part %i %f
         %both = OpCompositeConstruct %parts %p0 %p1
         %mid = OpCompositeConstruct %middle %in %both
         %message = OpCompositeConstruct %type %i %mid %two";
    on_device(context, &shader(decorations, types, body), |i| {
        let f = word((i as f32).to_bits());
        at(&[
            (0, word(i)),
            (16 + 8 + 4, f.clone()),
            (16 + 8 + 16, [word(i), word(MARK)].concat()),
            (16 + 40, word(MARK)),
            (16 + 40 + 12, f.clone()),
            (16 + 40 + 20, word(i)),
            (16 + 40 + 32, f),
            (120, word(2)),
        ])
    })
}

/// glslang before 16.6 emits this: a member starts before the end of its predecessor and is written after it.
fn overlap(context: &Context) -> Result<()> {
    let decorations = "OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 1 Offset 8
         OpMemberDecorate %type 2 Offset 8";
    let types = "%uvec4 = OpTypeVector %uint 4
         %type = OpTypeStruct %uvec4 %float %uint";
    let body = "%four = OpCompositeConstruct %uvec4 %i %mark %two %i
         %message = OpCompositeConstruct %type %four %f %mark";
    on_device(context, &shader(decorations, types, body), |i| {
        at(&[(0, [word(i), word(MARK), word(MARK), word(i)].concat())])
    })
}

fn wide_at_narrow(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let (core, _) = gpu.features();
    gpu.require(core.shader_int64, "shaderInt64")?;
    let decorations = "OpMemberDecorate %type 0 Offset 0
         OpMemberDecorate %type 1 Offset 4
         OpMemberDecorate %type 2 Offset 12";
    let types = "%uvec2 = OpTypeVector %uint 2
         %ulong = OpTypeInt 64 0
         %type = OpTypeStruct %uint %ulong %uint";
    let body = "%pair = OpCompositeConstruct %uvec2 %mark %i
         %wide = OpBitcast %ulong %pair
         %message = OpCompositeConstruct %type %i %wide %two";
    let device = Device::new(&gpu)?;
    let assembly = with_capability(&shader(decorations, types, body), "Int64");
    check(&device, &assembly, &[], |i| {
        [word(i), word(MARK), word(i), word(2)].concat()
    })
}

fn odd(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let (core, newer) = gpu.features();
    gpu.require(newer.shader_int8, "shaderInt8")?;
    gpu.require(core.shader_int16, "shaderInt16")?;
    let decorations = "OpMemberDecorate %type 0 Offset 1
         OpMemberDecorate %type 1 Offset 3
         OpMemberDecorate %type 2 Offset 5
         OpMemberDecorate %type 3 Offset 9
         OpMemberDecorate %type 4 Offset 18";
    let types = "%byte = OpTypeInt 8 0
         %short = OpTypeInt 16 0
         %big = OpConstant %uint 305419896
         %uvec2 = OpTypeVector %uint 2
         %type = OpTypeStruct %byte %short %uint %uvec2 %byte";
    let body = "%b = OpUConvert %byte %i
         %sum = OpIAdd %uint %big %i
         %s = OpUConvert %short %sum
         %v = OpCompositeConstruct %uvec2 %sum %big
         %message = OpCompositeConstruct %type %b %s %sum %v %b";
    let mut assembly = with_capability(&shader(decorations, types, body), "Int8");
    assembly = with_capability(&assembly, "Int16");
    let device = Device::new(&gpu)?;
    check(&device, &assembly, &[], |i| {
        let sum = 0x1234_5678 + i;
        at(&[
            (1, vec![i as u8]),
            (3, (sum as u16).to_le_bytes().to_vec()),
            (5, word(sum)),
            (9, [word(sum), word(0x1234_5678)].concat()),
            (18, vec![i as u8]),
        ])
    })
}

/// Without layout decorations, scalars are packed at multiples of their sizes.
fn none(context: &Context) -> Result<()> {
    let types = "%uvec3b = OpTypeVector %float 3
         %several = OpTypeArray %vec2 %two
         %inner = OpTypeStruct %uint %several
         %matrix = OpTypeMatrix %vec2 2
         %type = OpTypeStruct %uint %uvec3b %inner %matrix";
    let body = "%three = OpCompositeConstruct %uvec3b %f %f %f
         %pair = OpCompositeConstruct %vec2 %f %f
         %both = OpCompositeConstruct %several %pair %pair
         %in = OpCompositeConstruct %inner %mark %both
         %m = OpCompositeConstruct %matrix %pair %pair
         %message = OpCompositeConstruct %type %i %three %in %m";
    on_device(context, &shader("", types, body), |i| {
        let f = word((i as f32).to_bits());
        [word(i), f.repeat(3), word(MARK), f.repeat(4), f.repeat(4)].concat()
    })
}

fn empty(context: &Context) -> Result<()> {
    let types = "%type = OpTypeStruct
         %message = OpConstantNull %type";
    on_device(context, &shader("", types, ""), |_| Vec::new())
}

/// The message's value has a type without a layout; the message type defines the offsets.
fn matching(context: &Context) -> Result<()> {
    let decorations = "OpMemberDecorate %laid_out 0 Offset 4
         OpMemberDecorate %laid_out 1 Offset 8
         OpDecorate %laid_out_array ArrayStride 24
         OpMemberDecorate %type 0 Offset 4
         OpMemberDecorate %type 1 Offset 16";
    let types = "%plain = OpTypeStruct %uint %vec2
         %plain_array = OpTypeArray %plain %two
         %value_type = OpTypeStruct %uint %plain_array
         %laid_out = OpTypeStruct %uint %vec2
         %laid_out_array = OpTypeArray %laid_out %two
         %type = OpTypeStruct %uint %laid_out_array";
    let body = "%pair = OpCompositeConstruct %vec2 %f %f
         %first = OpCompositeConstruct %plain %i %pair
         %second = OpCompositeConstruct %plain %mark %pair
         %both = OpCompositeConstruct %plain_array %first %second
         %message = OpCompositeConstruct %value_type %two %both";
    on_device(context, &shader(decorations, types, body), |i| {
        let pair = word((i as f32).to_bits()).repeat(2);
        at(&[
            (4, word(2)),
            (20, word(i)),
            (24, pair.clone()),
            (44, word(MARK)),
            (48, pair),
        ])
    })
}
