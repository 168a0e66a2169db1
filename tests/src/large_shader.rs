//! Generates compute shaders of any size for benchmarks.

use crate::glsl;
use anyhow::Result;
use std::fmt::Write as _;

/// Depth of the call chains.
const DEPTH: u32 = 8;

/// Compiles a shader with this number of functions, each with a loop, two aborts and a call.
///
/// # Errors
///
/// The shader does not compile.
pub fn shader(functions: u32) -> Result<Vec<u32>> {
    let mut text = String::from(
        "#version 460\n#extension GL_EXT_abort : require\nlayout(local_size_x = 64) in;\n\
         layout(binding = 0) buffer Data { uint data[]; };\nuint f0(uint x) { return x + 1u; }\n",
    );
    for number in 1..=functions {
        let before = if number % DEPTH == 1 { 0 } else { number - 1 };
        writeln!(
            text,
            "uint f{number}(uint x) {{\n  uint sum = 0u;\n  for (uint i = 0u; i < 4u; ++i) {{\n    \
             if (data[x + i] > 1000u) abortEXT(\"f{number}: data[%u] is %u\", x + i, data[x + i]);\n    \
             sum += f{before}(data[x + i] ^ i) * {number}u;\n  }}\n  \
             vec4 v = vec4(x, sum, x ^ sum, 1.0);\n  \
             if (dot(v, v) < 0.0) abortEXT(\"f{number}: v is %v4f\", v);\n  return sum + uint(v.x);\n}}"
        )?;
    }
    text += "void main() {\n  uint sum = 0u;\n";
    for number in (1..=functions).filter(|n| n % DEPTH == 0 || *n == functions) {
        writeln!(text, "  sum += f{number}(gl_GlobalInvocationID.x);")?;
    }
    text += "  data[gl_GlobalInvocationID.x] = sum;\n}\n";
    glsl::compile_compute(&text)
}
