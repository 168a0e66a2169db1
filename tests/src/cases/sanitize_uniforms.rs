//! Checks of operations on uniforms. Lavapipe 22.3 crashes at the first draw if a condition depends on uniforms alone, in a buffer behind
//! several others, unless it is opaque. Mesa 26 crashes at a loop around many checks behind a discard, unless it begins with a break.

use super::support::{compile_stages_by, draw_compiled, expect_success, without_abort};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Gpu, ShaderSource};
use anyhow::{Result, ensure};

pub(super) const CASES: &[Case] = cases! {
    "sanitize_uniforms::finite" => lit(gpu, 1.0, [255; 4]), set(INVALID), silent();
    "sanitize_uniforms::finite_under_all_checks" => lit(gpu, 1.0, [255; 4]), set(ALL_CHECKS), silent();
    "sanitize_uniforms::a_division_by_zero" => lit(gpu, 0.0, [0; 4]), set(INVALID), logs(&["1.0 / 0.0 is inf: `(color.xyz * direction.xyz) / tint.xyz`", "4096 invocations aborted here"]);
    "sanitize_uniforms::discarded" => discarded(gpu, 1.0, [255; 4]), set(INVALID), silent();
    "sanitize_uniforms::discarded_under_all_checks" => discarded(gpu, 1.0, [255; 4]), set(ALL_CHECKS), silent();
    "sanitize_uniforms::discarded_but_for_divisions_by_zero" => discarded(gpu, 0.0, [0; 4]), set(INVALID), logs(&["2048 invocations aborted here"]);
};

const INVALID: &[(&str, &str)] = &[("sanitize", "invalid")];
const ALL_CHECKS: &[(&str, &str)] = &[("sanitize", "all")];

/// Buffers of the layout.
const COUNT: usize = 6;
/// Words of each.
const WORDS: usize = 64;
/// Binding and offset of the shader's divisor.
const TINT: (usize, usize) = (2, 4);

/// Every fragment has a colour.
fn lit(gpu: &Gpu, tint: f32, expected: [u8; 4]) -> Result<()> {
    draw(gpu, "uniforms/lit.frag", tint, [expected; 2])
}

/// Those of the upper half have one.
fn discarded(gpu: &Gpu, tint: f32, expected: [u8; 4]) -> Result<()> {
    draw(gpu, "uniforms/discarded.frag", tint, [expected, [0; 4]])
}

/// Draws with ones in all buffers but for the divisor. Compares with the colours of the upper and the lower half.
fn draw(gpu: &Gpu, fragment: &str, tint: f32, [upper, lower]: [[u8; 4]; 2]) -> Result<()> {
    let device = without_abort(gpu)?;
    let mut buffers = Vec::with_capacity(COUNT);
    for number in 0..COUNT {
        let mut words = [1f32.to_bits(); WORDS];
        if number == TINT.0 {
            words[TINT.1..][..4].fill(tint.to_bits());
        }
        buffers.push(Buffer::uniform(&device, &words)?);
    }
    let buffers: Vec<&Buffer<'_>> = buffers.iter().collect();
    let shaders = compile_stages_by(&["stage/cover.vert", fragment], glsl::compile)?;
    let (image, result) = draw_compiled(&device, &shaders, &buffers, ShaderSource::Modules, [0, 0])?;
    expect_success(result)?;
    for (x, y, expected) in [(0, 0, upper), (63, 31, upper), (17, 42, lower), (63, 63, lower)] {
        let found = image.texel(x, y);
        ensure!(found == expected, "pixel {x} {y} is {found:?}");
    }
    Ok(())
}
