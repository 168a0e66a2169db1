//! Helpers for the cases of message layouts.

use super::support::{GROUPS, MARK, expect_lost, marked, same_set};
use crate::assembly::assemble;
use crate::case::Context;
use crate::vk::{Buffer, Device, Gpu, Kernel};
use crate::word_shader::WordShader;
use anyhow::Result;

/// Assembly of a shader in which invocations whose word is [`MARK`] abort with `%message` of type `%type`. `types`
/// declares the type and its constants; `body` computes the message from `%i`, the invocation, and `%f`, `%i` as a float.
pub(super) fn shader(decorations: &str, types: &str, body: &str) -> String {
    WordShader {
        needs: "OpCapability AbortKHR
                OpExtension \"SPV_KHR_abort\"",
        decorations,
        types: &format!(
            "%float = OpTypeFloat 32
             %vec2 = OpTypeVector %float 2
             %two = OpConstant %uint 2
             %mark = OpConstant %uint {MARK}
             {types}"
        ),
        code: &format!(
            "%f = OpConvertUToF %float %i
             %pointer = OpAccessChain %element %words %zero %i
             %value = OpLoad %uint %pointer
             %bad = OpIEqual %bool %value %mark
             OpSelectionMerge %end None
             OpBranchConditional %bad %abort %end
             %abort = OpLabel
             {body}
             OpAbortKHR %type %message
             %end = OpLabel"
        ),
        ..WordShader::default()
    }
    .text()
}

/// Bytes at their offsets, later ones over earlier ones, zero elsewhere.
pub(super) fn at(parts: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let end = parts.iter().map(|(offset, part)| offset + part.len()).max();
    let mut bytes = vec![0; end.unwrap_or(0)];
    for (offset, part) in parts {
        bytes[*offset..offset + part.len()].copy_from_slice(part);
    }
    bytes
}

/// Bytes of a word.
pub(super) fn word(value: u32) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

/// Runs a shader with specialisation `special` and expects messages of invocations 5 and 38.
pub(super) fn check(
    device: &Device<'_>,
    assembly: &str,
    special: &[(u32, u32)],
    expected: impl Fn(u32) -> Vec<u8>,
) -> Result<()> {
    let payloads = payloads(device, assembly, special, &[5, 38])?;
    same_set(payloads, vec![expected(5), expected(38)])
}

/// Messages of a shader in which the invocations `aborting` abort, with specialisation `special`.
pub(super) fn payloads(
    device: &Device<'_>,
    assembly: &str,
    special: &[(u32, u32)],
    aborting: &[usize],
) -> Result<Vec<Vec<u8>>> {
    let buffer = Buffer::storage(device, &marked(aborting))?;
    let mut kernel = Kernel::bound(device, &[&buffer])?;
    let words = special.iter().map(|(id, value)| (*id, value.to_le_bytes().to_vec()));
    kernel.create(&assemble(assembly)?, &words.collect::<Vec<_>>(), None)?;
    let (_submission, result) = kernel.run(GROUPS)?;
    expect_lost(result)?;
    device.payloads()
}

pub(super) fn on_device(context: &Context, assembly: &str, expected: impl Fn(u32) -> Vec<u8>) -> Result<()> {
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    check(&device, assembly, &[], expected)
}

/// Adds a capability to a shader.
pub(super) fn with_capability(assembly: &str, capability: &str) -> String {
    assembly.replacen(
        "OpCapability Shader",
        &format!("OpCapability Shader\nOpCapability {capability}"),
        1,
    )
}
