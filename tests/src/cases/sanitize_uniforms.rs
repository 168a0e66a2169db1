//! Checks whose conditions depend on uniforms alone, in a buffer behind several others: lavapipe 22.3 crashes at the first draw unless they
//! are opaque to it.

use super::support::{compile_stages_by, draw_compiled, expect_success, without_abort};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Buffer, Gpu, ShaderSource};
use anyhow::{Result, ensure};

pub(super) const CASES: &[Case] = cases! {
    "sanitize_uniforms::finite" => lit(gpu, 1.0, [255; 4]), set(INVALID), silent();
    "sanitize_uniforms::finite_under_all_checks" => lit(gpu, 1.0, [255; 4]), set(ALL_CHECKS), silent();
    "sanitize_uniforms::a_division_by_zero" => lit(gpu, 0.0, [0; 4]), set(INVALID), logs(&["1.0 / 0.0 is inf: `(color.xyz * direction.xyz) / tint.xyz`", "4096 invocations aborted here"]);
};

const INVALID: &[(&str, &str)] = &[("sanitize", "invalid")];
const ALL_CHECKS: &[(&str, &str)] = &[("sanitize", "all")];

/// Buffers of the layout.
const COUNT: usize = 6;
/// Words of each.
const WORDS: usize = 64;
/// Binding and offset of the shader's divisor.
const TINT: (usize, usize) = (2, 4);

/// Draws with ones in all buffers but for the divisor.
fn lit(gpu: &Gpu, tint: f32, expected: [u8; 4]) -> Result<()> {
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
    let shaders = compile_stages_by(&["stage/cover.vert", "uniforms/lit.frag"], glsl::compile)?;
    let (image, result) = draw_compiled(&device, &shaders, &buffers, ShaderSource::Modules, [0, 0])?;
    expect_success(result)?;
    for (x, y) in [(0, 0), (17, 42), (63, 63)] {
        let found = image.texel(x, y);
        ensure!(found == expected, "pixel {x} {y} is {found:?}");
    }
    Ok(())
}
