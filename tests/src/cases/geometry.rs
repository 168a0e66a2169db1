//! Aborts in the tessellation and geometry stages.

use super::support::{MARK, payloads_if_lost};
use super::support::{expect_lost, expect_success};
use crate::case::{Case, Context};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, Gpu, Image, Pass, Stage, Way};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("geometry::tessellation_control", |context| {
        tessellation(context, CONTROL, 1)
    })
    .logs(&["control 1", "primitive 0, invocation 1"]),
    Case::new("geometry::tessellation_evaluation", |context| {
        tessellation(context, EVALUATION, 2)
    })
    .logs(&["evaluation 2", "primitive 0"]),
    Case::new("geometry::geometry_shader", geometry).logs(&["geometry 1", "primitive 0, invocation 1"]),
    Case::new("geometry::never_taken_draws_the_same", never_taken).silent(),
];

/// Stage numbers in the shaders: the index of each stage's counters in the buffer, and the value of the push constant.
const CONTROL: u32 = 1;
const EVALUATION: u32 = 2;
const GEOMETRY: u32 = 3;

/// Stage of a shader, by its file name's extension.
fn kind(shader: &str) -> vk::ShaderStageFlags {
    match shader.rsplit('.').next() {
        Some("vert") => vk::ShaderStageFlags::VERTEX,
        Some("tesc") => vk::ShaderStageFlags::TESSELLATION_CONTROL,
        Some("tese") => vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        Some("geom") => vk::ShaderStageFlags::GEOMETRY,
        _ => vk::ShaderStageFlags::FRAGMENT,
    }
}

const TESSELLATION_SHADERS: [&str; 4] = [
    "stage/pass.vert",
    "stage/control.tesc",
    "stage/evaluation.tese",
    "stage/white.frag",
];
const GEOMETRY_SHADERS: [&str; 3] = ["stage/pass.vert", "stage/geometry.geom", "stage/white.frag"];

/// Draws with these shaders and push constants, then runs `check` on the image. Returns the result, words and payloads.
fn draw(
    context: &Context,
    shaders: &[&str],
    push: [u32; 2],
    check: impl FnOnce(&Image<'_>) -> Result<()>,
) -> Result<(vk::Result, Vec<u32>, Vec<Vec<u8>>)> {
    let gpu = Gpu::open(context)?;
    let (core, _) = gpu.features();
    gpu.require(core.tessellation_shader, "tessellationShader")?;
    gpu.require(core.geometry_shader, "geometryShader")?;
    gpu.require(
        core.vertex_pipeline_stores_and_atomics,
        "vertexPipelineStoresAndAtomics",
    )?;
    let device = Device::new(&gpu)?;
    let image = Image::new(&device)?;
    let buffer = Buffer::storage(&device, &[0; 256])?;
    let compiled = shaders
        .iter()
        .map(|shader| glsl::compile(shader))
        .collect::<Result<Vec<_>>>()?;
    let stages: Vec<_> = shaders
        .iter()
        .zip(&compiled)
        .map(|(shader, spirv)| Stage {
            kind: kind(shader),
            spirv,
        })
        .collect();
    let pass = Pass::with(&device, &stages, &[&buffer], Way::Modules)?;
    let submission = pass.record(&image, push)?;
    let result = submission.run();
    let payloads = payloads_if_lost(&device, result)?;
    check(&image)?;
    Ok((result, buffer.read(), payloads))
}

/// Counters of a stage's invocations.
fn notes(words: &[u32], stage: u32) -> &[u32] {
    &words[stage as usize * 64..][..3]
}

fn tessellation(context: &Context, stage: u32, at: u32) -> Result<()> {
    let (result, words, payloads) = draw(context, &TESSELLATION_SHADERS, [stage, at], |_| Ok(()))?;
    expect_lost(result)?;
    let name = if stage == CONTROL { "control" } else { "evaluation" };
    let expected = Payload::text(&format!("{name} %u")).scalar(at).bytes();
    // An evaluation shader may run more than once for a corner.
    ensure!(
        !payloads.is_empty() && payloads.iter().all(|payload| *payload == expected),
        "{payloads:?}"
    );
    ensure!(
        stage == EVALUATION || payloads.len() == 1,
        "{} messages",
        payloads.len()
    );
    for (i, &count) in notes(&words, stage).iter().enumerate() {
        ensure!(
            (count == 0) == (i == at as usize),
            "invocation {i} stored {count} times"
        );
    }
    Ok(())
}

fn geometry(context: &Context) -> Result<()> {
    let white = |image: &Image<'_>| {
        ensure!(image.texel(20, 20) == [255; 4], "the other invocation drew nothing");
        Ok(())
    };
    let (result, words, payloads) = draw(context, &GEOMETRY_SHADERS, [GEOMETRY, 1], white)?;
    expect_lost(result)?;
    ensure!(
        payloads == [Payload::text("geometry %u").scalar(1u32).bytes()],
        "{payloads:?}"
    );
    ensure!(notes(&words, GEOMETRY)[..2] == [1, 0], "{:?}", notes(&words, GEOMETRY));
    Ok(())
}

fn never_taken(context: &Context) -> Result<()> {
    for shaders in [&TESSELLATION_SHADERS[..], &GEOMETRY_SHADERS] {
        let (result, words, _) = draw(context, shaders, [MARK, 99], |image| {
            image.expect_white(&[(0, 0), (63, 0), (0, 63), (63, 63), (31, 32)])
        })?;
        expect_success(result)?;
        let stages: &[u32] = if shaders.len() == 4 {
            &[CONTROL, EVALUATION]
        } else {
            &[GEOMETRY]
        };
        for &stage in stages {
            let count = if stage == GEOMETRY { 2 } else { 3 };
            ensure!(
                notes(&words, stage)[..count].iter().all(|&count| count > 0),
                "stage {stage} stored {:?}",
                notes(&words, stage)
            );
        }
    }
    Ok(())
}
