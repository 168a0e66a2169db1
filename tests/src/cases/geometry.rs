//! Aborts in the tessellation and geometry stages.

use super::support::{MARK, draw_with_words};
use crate::case::{Case, cases};
use crate::payload::Payload;
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};

pub(super) const CASES: &[Case] = cases! {
    "geometry::tessellation_control" => tessellation(gpu, CONTROL, 1),
        logs(&["control 1", "primitive 0, invocation 1", "= condition: stage == 1 && at == i with stage = 1"]);
    "geometry::tessellation_evaluation" => tessellation(gpu, EVALUATION, 2), logs(&["evaluation 2", "primitive 0", "= condition: stage == 2 && at == i"]);
    "geometry::geometry_shader" => geometry(gpu), logs(&["geometry 1", "primitive 0, invocation 1", "= condition: stage == 3 && at == i"]);
    "geometry::never_taken_draws_the_same" => never_taken(gpu), silent();
};

/// Stage numbers in the shaders: the index of each stage's counters in the buffer, and the value of the push constant.
const CONTROL: u32 = 1;
const EVALUATION: u32 = 2;
const GEOMETRY: u32 = 3;

const TESSELLATION_SHADERS: [&str; 4] = [
    "stage/pass.vert",
    "stage/control.tesc",
    "stage/evaluation.tese",
    "stage/white.frag",
];
const GEOMETRY_SHADERS: [&str; 3] = ["stage/pass.vert", "stage/geometry.geom", "stage/white.frag"];

/// Creates a device with these stages.
fn open(gpu: &Gpu) -> Result<Device<'_>> {
    let (core, _) = gpu.features();
    gpu.require(core.tessellation_shader, "tessellationShader")?;
    gpu.require(core.geometry_shader, "geometryShader")?;
    let stores = core.vertex_pipeline_stores_and_atomics;
    gpu.require(stores, "vertexPipelineStoresAndAtomics")?;
    Device::new(gpu)
}

/// Counters of a stage's invocations.
fn notes(words: &[u32], stage: u32) -> &[u32] {
    &words[stage as usize * 64..][..3]
}

fn tessellation(gpu: &Gpu, stage: u32, at: u32) -> Result<()> {
    let device = open(gpu)?;
    let (words, payloads) = draw_with_words(&device, &TESSELLATION_SHADERS, [stage, at])?.1.lost()?;
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

fn geometry(gpu: &Gpu) -> Result<()> {
    let device = open(gpu)?;
    let (image, ran) = draw_with_words(&device, &GEOMETRY_SHADERS, [GEOMETRY, 1])?;
    ensure!(image.texel(20, 20) == [255; 4], "the other invocation drew nothing");
    let (words, payloads) = ran.lost()?;
    ensure!(payloads == [Payload::text("geometry %u").scalar(1u32).bytes()]);
    ensure!(notes(&words, GEOMETRY)[..2] == [1, 0], "{:?}", notes(&words, GEOMETRY));
    Ok(())
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    let pipelines: [(&[&str], &[u32], usize); 2] = [
        (&TESSELLATION_SHADERS, &[CONTROL, EVALUATION], 3),
        (&GEOMETRY_SHADERS, &[GEOMETRY], 2),
    ];
    for (shaders, stages, count) in pipelines {
        let device = open(gpu)?;
        let (image, ran) = draw_with_words(&device, shaders, [MARK, 99])?;
        image.expect_white(&[(0, 0), (63, 0), (0, 63), (63, 63), (31, 32)])?;
        let words = ran.succeeded()?;
        for &stage in stages {
            let stored = &notes(&words, stage)[..count];
            ensure!(stored.iter().all(|&count| count > 0), "stage {stage} stored {stored:?}");
        }
    }
    Ok(())
}
