//! Helpers for the cases of message layouts.

use super::support::{MARK, marked, run_specialised, same_set};
use crate::assembly::assemble;
use crate::vk::Device;
use crate::word_shader::word_shader;
use anyhow::Result;

/// Assembly of the shader `layout/<name>.spvasm`, in which invocations whose word is [`MARK`] abort with `%message` of type
/// `%type`, computed from `%i`, the invocation, and `%f`, `%i` as a float.
pub(super) fn shader(name: &str, values: &[(&str, &str)]) -> Result<String> {
    let mark = MARK.to_string();
    let values = [values, &[("mark", &mark)]].concat();
    word_shader(&[&format!("layout/{name}"), "layout/message"], &values)
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

/// Runs a shader and expects messages of invocations 5 and 38.
pub(super) fn check(device: &Device<'_>, assembly: &str, expected: impl Fn(u32) -> Vec<u8>) -> Result<()> {
    check_specialised(device, assembly, &[], expected)
}

/// [`check`] for the shader `name` of [`shader`].
pub(super) fn check_file(device: &Device<'_>, name: &str, expected: fn(u32) -> Vec<u8>) -> Result<()> {
    check(device, &shader(name, &[])?, expected)
}

/// [`check`] with specialisation `special`.
pub(super) fn check_specialised(
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
    let bytes = special
        .iter()
        .map(|(id, value)| (*id, word(*value)))
        .collect::<Vec<_>>();
    let (_, payloads) = run_specialised(device, &assemble(assembly)?, &bytes, &marked(aborting))?.lost()?;
    Ok(payloads)
}
