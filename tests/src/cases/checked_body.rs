//! Compute shaders of one body, for checks: 64 invocations, each of which adds 1000 to its word at its end.

use super::support::{incremented, marked, run, same_words, without_abort};
use crate::vk::Gpu;
use crate::{glsl, shader_cache};
use anyhow::{Context as _, Result};

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

/// Compiles the shader with a body.
type Shader = fn(&str) -> Result<Vec<u32>>;

/// Invocation 3, which has a mark, has a fault and ends.
///
/// # Errors
///
/// The shader does not compile, or [`expect`] fails.
pub(super) fn fault(gpu: &Gpu, shader: Shader, body: &str) -> Result<()> {
    expect(gpu, &shader(body)?, &[3], false).context(body.to_owned())
}

/// As [`fault`], with the shader optimized by `spirv-opt`.
///
/// # Errors
///
/// As [`fault`].
pub(super) fn optimized_fault(gpu: &Gpu, shader: Shader, body: &str) -> Result<()> {
    expect(gpu, &shader_cache::optimized(&shader(body)?)?, &[3], false).context(body.to_owned())
}

/// Invocations with a mark do not differ.
///
/// # Errors
///
/// As [`fault`].
pub(super) fn silent_if(gpu: &Gpu, shader: Shader, body: &str) -> Result<()> {
    expect(gpu, &shader(body)?, &[3, 40], true).context(body.to_owned())
}

/// As [`silent_if`], with the shader optimized by `spirv-opt`.
///
/// # Errors
///
/// As [`fault`].
pub(super) fn optimized_silent(gpu: &Gpu, shader: Shader, body: &str) -> Result<()> {
    expect(gpu, &shader_cache::optimized(&shader(body)?)?, &[3, 40], true).context(body.to_owned())
}

/// The words that invocations leave which have all reached their end (`is_silent`), or all but those with a mark.
pub(super) fn words_after(before: &[u32], is_silent: bool) -> Vec<u32> {
    match is_silent {
        true => before.iter().map(|word| word + 1000).collect(),
        false => incremented(before),
    }
}
