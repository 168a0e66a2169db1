//! Compute shaders of one body, for checks: 64 invocations, each of which adds 1000 to its word at its end.

use super::support::{incremented, marked, run, same_words, without_abort};
use crate::glsl;
use crate::vk::Gpu;
use anyhow::Result;

/// A shader with these declarations, extensions first, whose `main` begins with `start`. The body has the invocation `i`, its `word`, and
/// `result`, whose value has an effect.
///
/// # Errors
///
/// It does not compile.
pub(super) fn compile(declarations: &str, start: &str, body: &str) -> Result<Vec<u32>> {
    let text = format!(
        "#version 460
         {declarations}
         layout(local_size_x = 32) in;
         layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};
         void main() {{
             uint i = gl_GlobalInvocationID.x;
             uint word = words[i], result = 0u;
             {start}
             {body}
             words[i] = word + 1000u + min(result, 0u);
         }}"
    );
    glsl::compile_compute(&text)
}

/// Runs a shader with marks at these words. Unless it is silent, their invocations end.
///
/// # Errors
///
/// A call fails, or other invocations have ended.
pub(super) fn expect(gpu: &Gpu, spirv: &[u32], at: &[usize], is_silent: bool) -> Result<()> {
    let before = marked(at);
    let after = run(&without_abort(gpu)?, spirv, &before)?.succeeded()?;
    same_words(&after, &words_after(&before, is_silent))
}

/// The words that invocations leave which have all reached their end (`is_silent`), or all but those with a mark.
pub(super) fn words_after(before: &[u32], is_silent: bool) -> Vec<u32> {
    match is_silent {
        true => before.iter().map(|word| word + 1000).collect(),
        false => incremented(before),
    }
}
