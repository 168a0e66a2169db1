//! Aborts in the stages of ray tracing pipelines.

use super::command_pool::ON;
use super::support::{expect_lost, expect_success, payloads_if_lost};
use crate::case::{Case, cases};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, RAY_STAGES, Rays, Scene, Stage, groups};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "ray::generation" => aborts(gpu, 1, 10),
        set(ON),
        logs(&[
            "ray generation 10",
            "launch (2, 1, 0)",
            "= condition: stage == 1 && launch == at",
            "= command: vkCmdTraceRaysKHR(width 8, height 8, depth 1), the 1st of a command buffer without a name",
        ]);
    "ray::miss" => aborts(gpu, 2, 31),
        logs(&["miss 31", "launch (7, 3, 0)", "= condition: stage == 2 && launch == at"]);
    "ray::callable" => aborts(gpu, 3, 45),
        logs(&["callable 45", "launch (5, 5, 0)", "= condition: stage == 3 && launch == at"]);
    "ray::closest_hit" => aborts(gpu, 4, 48),
        logs(&["closest hit 48", "launch (0, 6, 0)", "= condition: stage == 4 && launch == at"]);
    "ray::any_hit_terminates_the_ray" => aborts(gpu, 5, 19),
        logs(&["any hit 19", "launch (3, 2, 0)", "= condition: stage == 5 && launch == at"]);
    "ray::intersection" => aborts(gpu, 6, 36),
        logs(&["intersection 36", "launch (4, 4, 0)", "= condition: stage == 6 && launch == at"]);
    "ray::never_taken_traces_the_same" => never_taken(gpu), silent();
};

/// Names of the stages in their messages, from stage 1.
const NAMES: [&str; 6] = [
    "ray generation",
    "miss",
    "callable",
    "closest hit",
    "any hit",
    "intersection",
];

/// The shaders, in the order of [`RAY_STAGES`].
pub(super) const SHADERS: [&str; 6] = [
    "ray/trace.rgen",
    "ray/sky.rmiss",
    "ray/adder.rcall",
    "ray/hit.rchit",
    "ray/hit.rahit",
    "ray/box.rint",
];

/// Runs `check` on a device with ray tracing.
pub(super) fn on_device(gpu: &Gpu, check: impl FnOnce(&Device<'_>) -> Result<()>) -> Result<()> {
    on_device_with(gpu, false, check)
}

/// [`on_device`], with support for module create infos chained to stages if `inline` is set.
pub(super) fn on_device_with(gpu: &Gpu, inline: bool, check: impl FnOnce(&Device<'_>) -> Result<()>) -> Result<()> {
    let names = [
        ash::khr::ray_tracing_pipeline::NAME,
        ash::khr::acceleration_structure::NAME,
        ash::khr::deferred_host_operations::NAME,
        ash::khr::pipeline_library::NAME,
    ];
    names.into_iter().try_for_each(|name| gpu.require_extension(name))?;
    let mut pipelines = vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::default().ray_tracing_pipeline(true);
    let mut structures = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default().acceleration_structure(true);
    let mut maintenance = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true);
    let mut more = ExtraDeviceInfo {
        extensions: names.to_vec(),
        features: vec![&mut pipelines, &mut structures],
    };
    if inline {
        gpu.require_extension(ash::khr::maintenance5::NAME)?;
        more.extensions.push(ash::khr::maintenance5::NAME);
        more.features.push(&mut maintenance);
    }
    let options = DeviceOptions::ADDRESSES;
    check(&Device::extended(gpu, options, more)?)
}

/// Compiles the shaders.
pub(super) fn compiled() -> Result<Vec<Vec<u32>>> {
    SHADERS.iter().map(|shader| glsl::compile(shader)).collect()
}

/// Stages of compiled shaders.
pub(super) fn stages(compiled: &[Vec<u32>]) -> Vec<Stage<'_>> {
    let stages = RAY_STAGES.iter().zip(compiled);
    stages.map(|(kind, spirv)| Stage::new(*kind, spirv)).collect()
}

/// Traces with a pipeline from `create`. Launch `target[1]` aborts in stage `target[0]`. Returns the result, words and
/// payloads.
pub(super) fn trace(
    device: &Device<'_>,
    target: [u32; 2],
    create: impl FnOnce(&mut Rays<'_>) -> Result<()>,
) -> Result<(vk::Result, Vec<u32>, Vec<Vec<u8>>)> {
    let scene = Scene::new(device)?;
    let buffer = Buffer::storage(device, &[&target[..], &[0; 7 * 64]].concat())?;
    let mut rays = Rays::bound(device, &buffer, &scene)?;
    create(&mut rays)?;
    let submission = rays.record()?;
    let result = submission.run();
    let payloads = payloads_if_lost(device, result)?;
    Ok((result, buffer.read().split_off(2), payloads))
}

/// Expected counter of a stage and launch without aborts; stage 0 is the result of the launch.
fn expected(stage: usize, at: usize) -> u32 {
    let x = at % 8;
    match stage {
        0 if x < 4 => 1100,
        0 if x < 6 => 1101,
        0 => 1300,
        2 => u32::from(x >= 6),
        4 => u32::from(x < 6),
        5 => u32::from(x < 4),
        6 => u32::from((4..6).contains(&x)),
        _ => 1,
    }
}

/// Compares the counters of all launches except `skipped`.
pub(super) fn same_counts(words: &[u32], skipped: Option<usize>) -> Result<()> {
    for stage in 0..7 {
        for at in (0..64).filter(|at| Some(*at) != skipped) {
            let (found, expected) = (words[stage * 64 + at], expected(stage, at));
            ensure!(
                found == expected,
                "stage {stage} of launch {at} left {found}, expected {expected}"
            );
        }
    }
    Ok(())
}

/// Creates a pipeline of compiled shaders.
pub(super) fn create(rays: &mut Rays<'_>, compiled: &[Vec<u32>]) -> Result<()> {
    let stages = rays.stages(&stages(compiled))?;
    let groups = groups();
    rays.create(
        vk::RayTracingPipelineCreateInfoKHR::default()
            .stages(&stages)
            .groups(&groups),
    )?;
    Ok(())
}

/// Launch `AT`, row by row of 8, aborts in stage `STAGE`.
fn aborts(gpu: &Gpu, stage: usize, at: usize) -> Result<()> {
    on_device(gpu, |device| {
        let (result, words, payloads) = trace(device, [stage as u32, at as u32], |rays| create(rays, &compiled()?))?;
        expect_lost(result)?;
        let message = Payload::text(&format!("{} %u", NAMES[stage - 1]))
            .scalar(at as u32)
            .bytes();
        ensure!(payloads == [message], "{payloads:?}");
        let count = words[stage * 64 + at];
        ensure!(count == 0, "the invocation stored {count} after the abort");
        if stage == 1 {
            let after = (0..7).map(|stage| words[stage * 64 + at]).max();
            ensure!(after == Some(0), "the ray was traced after the abort");
        }
        if stage == 6 {
            ensure!(words[4 * 64 + at] == 0, "an intersection was reported after the abort");
        }
        same_counts(&words, Some(at))
    })
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    on_device(gpu, |device| {
        let (result, words, _) = trace(device, [0, 0], |rays| create(rays, &compiled()?))?;
        expect_success(result)?;
        same_counts(&words, None)
    })
}
