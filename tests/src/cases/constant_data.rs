//! `OpConstantDataKHR` on drivers: as tables and in messages, in every width. Also the helpers that
//! `constant_data_special` uses.

use super::support::{GROUPS, MARK, expect_lost, expect_success, marked, same_set, same_words};
use crate::assembly::assemble;
use crate::case::{Case, Context};
use crate::vk::{Buffer, Device, Gpu, Kernel};
use crate::word_shader::WordShader;
use anyhow::Result;
use ash::vk;
use std::fmt::Write;

pub(super) const CASES: &[Case] = &[
    Case::new("constant_data::tables_of_8_bits", |context| tables(context, 8)).silent(),
    Case::new("constant_data::tables_of_16_bits", |context| tables(context, 16)).silent(),
    Case::new("constant_data::tables_of_32_bits", |context| tables(context, 32)).silent(),
    Case::new("constant_data::tables_of_64_bits", |context| tables(context, 64)).silent(),
    // lavapipe's compile time grows with the square of a table's length.
    Case::new("constant_data::a_large_table", |context| table(context, 32, false, 301)).silent(),
    Case::new("constant_data::in_messages", messages),
];

/// Assembly of a compute shader over a buffer of words: `%i` is the invocation and `%value` its word.
pub(super) fn shader(head: &str, decorations: &str, types: &str, variables: &str, body: &str) -> String {
    WordShader {
        needs: &format!(
            "OpCapability ConstantDataKHR
             {head}
             OpExtension \"SPV_KHR_constant_data\""
        ),
        decorations,
        types: &format!(
            "%uvec2 = OpTypeVector %uint 2
             %one = OpConstant %uint 1
             %sixty_four = OpConstant %uint 64
             %mark = OpConstant %uint {MARK}
             {types}"
        ),
        variables,
        code: &format!(
            "%behind = OpIAdd %uint %i %sixty_four
             %pointer = OpAccessChain %element %words %zero %i
             %pointer_behind = OpAccessChain %element %words %zero %behind
             %value = OpLoad %uint %pointer
             {body}"
        ),
        ..WordShader::default()
    }
    .text()
}

/// End of a shader body in which invocations whose word is [`MARK`] abort.
pub(super) fn abort(message: &str) -> String {
    format!(
        "%bad = OpIEqual %bool %value %mark
         OpSelectionMerge %end None
         OpBranchConditional %bad %aborts %end
         %aborts = OpLabel
         {message}
         %end = OpLabel"
    )
}

pub(super) const ABORT: &str = "OpCapability AbortKHR
    OpExtension \"SPV_KHR_abort\"";

/// Element `k` of the tables. Some have the sign bit set.
fn element(k: u64, width: u32) -> u64 {
    (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - width)
}

/// Elements as literal words in assembly.
fn literal(elements: &[u64], width: u32) -> String {
    let bytes = bytes(elements, width);
    bytes.chunks(4).fold(String::new(), |mut text, chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        let _ = write!(text, " {:#010x}", u32::from_le_bytes(word));
        text
    })
}

fn bytes(elements: &[u64], width: u32) -> Vec<u8> {
    let each = elements.iter().map(|element| element.to_le_bytes());
    each.flat_map(|bytes| bytes[..width as usize / 8].to_vec()).collect()
}

/// Skips the case if the device lacks integers of this width; returns their capability.
fn require(gpu: &Gpu, width: u32) -> Result<&'static str> {
    let (core, newer) = gpu.features();
    let (has, capability) = match width {
        8 => (newer.shader_int8, "OpCapability Int8"),
        16 => (core.shader_int16, "OpCapability Int16"),
        64 => (core.shader_int64, "OpCapability Int64"),
        _ => (vk::TRUE, ""),
    };
    gpu.require(has, &format!("integers of {width} bits"))?;
    Ok(capability)
}

fn tables(context: &Context, width: u32) -> Result<()> {
    for count in [1, 3, 61] {
        for signed in [false, true] {
            table(context, width, signed, count)?;
        }
    }
    Ok(())
}

/// Looks up elements by an index that is unknown at compile time, and one by a constant.
fn table(context: &Context, width: u32, signed: bool, count: u64) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let capability = require(&gpu, width)?;
    let device = Device::new(&gpu)?;
    let elements: Vec<u64> = (0..count).map(|k| element(k, width)).collect();
    let scalar = match (width, signed) {
        (32, false) => "%scalar = OpTypeAlias".to_owned(),
        _ => format!("%scalar = OpTypeInt {width} {}", u32::from(signed)),
    };
    let types = format!(
        "{scalar}
         %length = OpConstant %uint {count}
         %table = OpTypeArray %scalar %length
         %data = OpConstantDataKHR %table {}
         %table_pointer = OpTypePointer Function %table
         %scalar_pointer = OpTypePointer Function %scalar",
        literal(&elements, width)
    );
    let widened = |name: &str, from: &str| match (width, signed) {
        (64, _) => format!(
            "%{name}_both = OpBitcast %uvec2 {from}
             %{name}_low = OpCompositeExtract %uint %{name}_both 0
             %{name}_high = OpCompositeExtract %uint %{name}_both 1
             %{name} = OpBitwiseXor %uint %{name}_low %{name}_high"
        ),
        (32, false) => format!("%{name} = OpCopyObject %uint {from}"),
        (32, true) => format!("%{name} = OpBitcast %uint {from}"),
        (_, true) => format!("%{name} = OpSConvert %uint {from}"),
        (_, false) => format!("%{name} = OpUConvert %uint {from}"),
    };
    let body = format!(
        "%at = OpUMod %uint %value %length
         %place = OpAccessChain %scalar_pointer %variable %at
         %found = OpLoad %scalar %place
         {}
         OpStore %pointer %word
         %last = OpCompositeExtract %scalar %data {}
         {}
         OpStore %pointer_behind %last_word",
        widened("word", "%found"),
        count - 1,
        widened("last_word", "%last")
    );
    let assembly = shader(
        capability,
        "",
        &types,
        "%variable = OpVariable %table_pointer Function %data",
        &body,
    );
    let assembly = match (width, signed) {
        (32, false) => assembly
            .replace("%scalar = OpTypeAlias", "")
            .replace("%scalar ", "%uint ")
            .replace("%scalar\n", "%uint\n"),
        _ => assembly,
    };
    let words: Vec<u32> = (0..64).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    let buffer = Buffer::storage(&device, &[words.clone(), vec![0; 64]].concat())?;
    let kernel = Kernel::new(&device, &assemble(&assembly)?, &[&buffer])?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_success(result)?;
    let word = |element: u64| match (width, signed) {
        (64, _) => element as u32 ^ (element >> 32) as u32,
        (8, true) => element as u8 as i8 as u32,
        (16, true) => element as u16 as i16 as u32,
        _ => element as u32,
    };
    let looked_up = words.iter().map(|&w| word(elements[w as usize % elements.len()]));
    let last = word(elements[elements.len() - 1]);
    let expected: Vec<u32> = looked_up.chain([last; 64]).collect();
    same_words(&buffer.read(), &expected)
}

/// Runs a specialised shader that aborts at two marked words. Returns the payloads.
pub(super) fn payloads(device: &Device<'_>, assembly: &str, special: &[(u32, Vec<u8>)]) -> Result<Vec<Vec<u8>>> {
    let buffer = Buffer::storage(device, &[marked(&[5, 38]), vec![0; 64]].concat())?;
    let (_, result) = run_special(device, assembly, special, &buffer)?;
    expect_lost(result)?;
    device.payloads()
}

/// Runs a specialised shader.
pub(super) fn run_special<'d>(
    device: &'d Device<'d>,
    assembly: &str,
    special: &[(u32, Vec<u8>)],
    buffer: &'d Buffer<'d>,
) -> Result<(Kernel<'d>, vk::Result)> {
    let mut kernel = Kernel::bound(device, &[buffer])?;
    kernel.create(&assemble(assembly)?, special, None)?;
    let (_submission, result) = kernel.run(GROUPS)?;
    Ok((kernel, result))
}

fn messages(context: &Context) -> Result<()> {
    let gpu = Gpu::open(context)?;
    for width in [8, 16, 32, 64] {
        // Data used only by messages needs no device support for its width, but the module still declares the capability.
        let capability = match require(&gpu, width) {
            Ok(capability) => capability,
            Err(_) if width == 8 => "OpCapability Int8",
            Err(_) => continue,
        };
        for count in [1u64, 7, 200] {
            let elements: Vec<u64> = (0..count).map(|k| element(k, width)).collect();
            let scalar = if width == 32 {
                "%scalar = OpTypeInt 32 1".to_owned()
            } else {
                format!("%scalar = OpTypeInt {width} 0")
            };
            let behind = (elements.len() * width as usize / 8).next_multiple_of(4);
            let types = format!(
                "{scalar}
                 %length = OpConstant %uint {count}
                 %table = OpTypeArray %scalar %length
                 %data = OpConstantDataKHR %table {}
                 %plain = OpTypeStruct %table %uint
                 %laid_out = OpTypeArray %scalar %length
                 %type = OpTypeStruct %laid_out %uint",
                literal(&elements, width)
            );
            let decorations = format!(
                "OpDecorate %laid_out ArrayStride {}
                 OpMemberDecorate %type 0 Offset 0
                 OpMemberDecorate %type 1 Offset {behind}",
                width / 8
            );
            let body = abort(
                "%message = OpCompositeConstruct %plain %data %i
                 OpAbortKHR %type %message",
            );
            let assembly = shader(&format!("{capability}\n{ABORT}"), &decorations, &types, "", &body);
            let device = Device::new(&gpu)?;
            let expected = |i: u32| {
                let mut bytes = bytes(&elements, width);
                bytes.resize(behind, 0);
                bytes.extend(i.to_le_bytes());
                bytes
            };
            same_set(payloads(&device, &assembly, &[])?, vec![expected(5), expected(38)])?;
        }
    }
    Ok(())
}
