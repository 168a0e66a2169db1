//! Every way of a shader to the driver has checks: chained to its stage, specialised, in libraries, in deferred operations, as a
//! shader object. Code without SPIR-V has none, and the log says so once.

use super::binaries::dispatch;
use super::pipeline_creation::with_inline;
use super::ray;
use super::ray_pipeline_creation::WAYS;
use super::sanitize::{ENDLESS, SANITIZE, form};
use super::settings;
use super::shader_binary::{binary, open};
use super::support::{
    bytes, compile_stages_by, draw_compiled, expect_success, incremented, marked, run_kernel, run_specialised,
    same_words, without_abort,
};
use crate::case::{Case, Context, cases};
use crate::glsl::{self, compile_endless};
use crate::vk::{Buffer, Gpu, Kernel, ShaderSource};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "sanitize_ways::a_chained_module" => chained(gpu, &[3]), set(SANITIZE), logs(ENDLESS);
    "sanitize_ways::a_chained_module_without_a_failed_check" => chained(gpu, &[]), set(SANITIZE), silent();
    "sanitize_ways::a_loop_that_a_specialisation_makes_endless" => specialised(gpu, 0), set(SANITIZE), logs(ENDLESS);
    "sanitize_ways::a_loop_that_a_specialisation_leaves_finite" => specialised(gpu, 2), set(SANITIZE), silent();
    "sanitize_ways::graphics" => graphics(gpu, [17, 42]), set(SANITIZE), logs(ENDLESS);
    "sanitize_ways::graphics_without_a_failed_check" => graphics(gpu, [1000, 1000]), set(SANITIZE), silent();
    "sanitize_ways::rays" => rays(gpu, [4, 1]), set(SANITIZE), logs(ENDLESS);
    "sanitize_ways::rays_without_a_failed_check" => rays(gpu, [0, 0]), set(SANITIZE), silent();
    "sanitize_ways::a_shader_object" => shader_object(gpu, &[3]), set(SANITIZE), logs(ENDLESS);
    "sanitize_ways::a_shader_object_without_a_failed_check" => shader_object(gpu, &[]), set(SANITIZE), silent();
    "sanitize_ways::a_binary_that_the_layer_has_not_seen" => foreign_binary(context),
        alone(), set(&[("log_level", "warning")]),
        logs(&["sanitize: a shader object is created from a binary, without SPIR-V"]);
};

const SPIRV: vk::ShaderCodeTypeEXT = vk::ShaderCodeTypeEXT::SPIRV;

fn words(endless: &[usize]) -> Vec<u32> {
    [&marked(endless)[..], &[0]].concat()
}

fn same(found: &[u32], endless: &[usize]) -> Result<()> {
    same_words(&found[..64], &incremented(&marked(endless)))
}

fn chained(gpu: &Gpu, endless: &[usize]) -> Result<()> {
    with_inline(gpu, |device| {
        let buffer = Buffer::storage(device, &words(endless))?;
        let mut kernel = Kernel::bound(device, &[&buffer])?;
        kernel.create_inline(&form("WHILE")?, &[])?;
        same(&run_kernel(device, &kernel, &buffer)?.succeeded()?, endless)
    })
}

/// The step of the loop is a constant that the pipeline specialises; its default is 1.
fn specialised(gpu: &Gpu, step: u32) -> Result<()> {
    let text = "#version 460
        layout(local_size_x = 32) in;
        layout(constant_id = 5) const uint STEP = 1u;
        layout(std430, set = 0, binding = 0) buffer Words { uint words[]; };
        void main() {
            uint rounds = 0u;
            for (uint i = 0u; i < 10u; i += STEP) { rounds++; }
            words[gl_GlobalInvocationID.x] += rounds;
        }";
    let special = [(5, step.to_ne_bytes().to_vec())];
    let device = without_abort(gpu)?;
    let before = marked(&[]);
    let after = run_specialised(&device, &glsl::compile_compute(text)?, &special, &before)?.succeeded()?;
    let rounds = 10u32.checked_div(step).unwrap_or(0);
    same_words(&after, &before.iter().map(|word| word + rounds).collect::<Vec<_>>())
}

fn graphics(gpu: &Gpu, pixel: [u32; 2]) -> Result<()> {
    let shaders = compile_stages_by(&["stage/cover.vert", "stage/fragment.frag"], compile_endless)?;
    for source in [
        ShaderSource::Inline,
        ShaderSource::Libraries,
        ShaderSource::InlineLibraries,
        ShaderSource::Derivative,
    ] {
        with_inline(gpu, |device| {
            let (image, result) = draw_compiled(device, &shaders, &[], source, pixel)?;
            expect_success(result)?;
            let expected = if pixel == [17, 42] { [0; 4] } else { [17, 42, 255, 255] };
            let found = image.texel(17, 42);
            ensure!(found == expected, "{source:?}: {found:?}");
            Ok(())
        })?;
    }
    Ok(())
}

fn rays(gpu: &Gpu, target: [u32; 2]) -> Result<()> {
    let compiled: Vec<Vec<u32>> = ray::SHADERS
        .iter()
        .map(|name| compile_endless(name))
        .collect::<Result<_>>()?;
    ray::on_device_with(gpu, true, |device| {
        for create in WAYS {
            let (result, words, _) = ray::trace(device, target, |rays| create(device, rays, &compiled))?;
            expect_success(result)?;
            ray::same_counts(&words, (target[0] != 0).then_some(target[1] as usize))?;
        }
        Ok(())
    })
}

fn shader_object(gpu: &Gpu, endless: &[usize]) -> Result<()> {
    let device = open(gpu)?;
    let buffer = Buffer::storage(&device, &words(endless))?;
    expect_success(dispatch(&device, &buffer, SPIRV, &bytes(&form("WHILE")?))?)?;
    same(&buffer.read(), endless)
}

/// An instance without checks makes the binary; one with checks does not know it, and runs it.
fn foreign_binary(context: &Context) -> Result<()> {
    let code = bytes(&form("DO_WHILE")?);
    let data = binary(&open(&settings::open(context, &[])?)?, SPIRV, &code)?;
    let checks = [c"loops".as_ptr()];
    let gpu = settings::open(context, &[settings::text(c"sanitize", &checks)])?;
    let device = open(&gpu)?;
    for _ in 0..2 {
        let buffer = Buffer::storage(&device, &words(&[]))?;
        expect_success(dispatch(&device, &buffer, vk::ShaderCodeTypeEXT::BINARY, &data)?)?;
        same(&buffer.read(), &[])?;
    }
    Ok(())
}
