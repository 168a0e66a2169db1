//! Shaders for the checks of the memory checker: loops with an access that one of them tests, and no other.

use crate::glsl;
use anyhow::{Context as _, Result};
use vkabort_instrument::Check;

/// Words of the buffer before those that invocations read and write: the number of iterations, 8, and a device address.
pub const HEAD: usize = 4;

/// The checks, with the statements before the loop, and those in it. Words that a shader reads are 1. The device address is that of
/// 1,024 words.
const ACCESSES: [(Check, &str, &str); 5] = [
    (
        Check::Addresses,
        "Values values = Values(address);",
        "value = value * 1664525u + values.at[value & 1023u];",
    ),
    (
        Check::Initialized,
        "uint lut[8];\n  for (uint i = 0u; i < eight; ++i) { lut[i & 7u] = i; }",
        "value = value * 1664525u + lut[value & 7u];",
    ),
    (
        Check::Races,
        "",
        "tile[own] = value; barrier(); value = value * 1664525u + tile[own ^ 1u]; barrier();",
    ),
    (
        Check::Barriers,
        "",
        // Not the shader above, which drivers would find in a cache.
        "tile[own] = value; barrier(); value = value * 1664525u + tile[own ^ 2u]; barrier();",
    ),
    (
        Check::Invalid,
        "",
        "value = value * 1664525u + 1u; words[1024u + gl_GlobalInvocationID.x] = \
         floatBitsToUint(float(words[value & 1023u]) / float(words[(value >> 8) & 1023u]));",
    ),
];

/// The checks.
pub fn checks() -> impl Iterator<Item = Check> {
    ACCESSES.into_iter().map(|(check, ..)| check)
}

/// Compiles a shader with `count` accesses to shared memory, one behind the other: stores to an element of the invocation's own, and loads.
///
/// # Errors
///
/// It does not compile.
pub fn compile_straight(count: u32) -> Result<Vec<u32>> {
    let accesses = (0..count).map(|k| match k % 2 {
        0 => format!("  tile[{k}u * 64u + own] = value;\n"),
        _ => format!("  value += tile[{}u * 64u + own] / (own + {k}u);\n", k - 1),
    });
    glsl::compile_compute(&format!(
        "#version 460\n\
         layout(local_size_x = 64) in;\n\
         layout(set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         shared uint tile[{}];\n\
         void main() {{\n  uint value = words[0], own = gl_LocalInvocationID.x;\n{}  words[own] = value;\n}}\n",
        count * 64,
        accesses.collect::<String>()
    ))
}

/// Compiles the shader for a check. The faulty one for `races` lacks a barrier, that for `addresses` is the same.
///
/// # Errors
///
/// There is none, or it does not compile.
pub fn compile(check: Check, is_faulty: bool) -> Result<Vec<u32>> {
    let access = ACCESSES.iter().find(|(other, ..)| *other == check);
    let (_, before, access) = access.with_context(|| format!("no shader for {}", check.name()))?;
    let access = access.replacen("barrier(); ", "", usize::from(is_faulty));
    glsl::compile_compute(&format!(
        "#version 460\n\
         #extension GL_EXT_buffer_reference : require\n\
         #extension GL_EXT_buffer_reference_uvec2 : require\n\
         layout(local_size_x = 64) in;\n\
         layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Values {{ uint at[]; }};\n\
         layout(set = 0, binding = 0) buffer Words {{ uint rounds; uint eight; uvec2 address; uint words[]; }};\n\
         shared uint tile[64];\n\
         void main() {{\n  uint value = gl_GlobalInvocationID.x, own = gl_LocalInvocationID.x;\n  uint rounds = rounds;\n  {before}\n  \
         for (uint i = 0u; i < rounds; ++i) {{\n    {access}\n  }}\n  \
         words[1024u + gl_GlobalInvocationID.x] = value;\n}}\n"
    ))
}
