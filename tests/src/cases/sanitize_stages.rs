//! Loops that do not end, in every stage. The shaders are those of the other cases, with such a loop in place of each abort.

use super::geometry::{CONTROL, EVALUATION, GEOMETRY, GEOMETRY_SHADERS, TESSELLATION_SHADERS, notes, require_stages};
use super::ray;
use super::sanitize::{ENDLESS, SANITIZE};
use super::support::{compile_stages_by, draw_compiled, expect_success, without_abort};
use crate::case::{Case, cases};
use crate::glsl::compile_endless;
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Image, Rays, ShaderSource};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "sanitize_stages::fragment" => fragment(gpu, [17, 42]), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::vertex" => vertex(gpu, 1), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::tessellation_control" => primitives(gpu, CONTROL, 1), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::tessellation_evaluation" => primitives(gpu, EVALUATION, 2), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::geometry" => primitives(gpu, GEOMETRY, 1), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::task" => mesh(gpu, TASK, 6), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::mesh" => mesh(gpu, MESH, 5), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::ray_generation" => rays(gpu, 1, 10), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::miss" => rays(gpu, 2, 31), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::callable" => rays(gpu, 3, 45), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::closest_hit" => rays(gpu, 4, 48), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::any_hit" => rays(gpu, 5, 19), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::intersection" => rays(gpu, 6, 36), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::graphics_never_taken" => never_taken(gpu), set(SANITIZE), silent();
    "sanitize_stages::primitives_never_taken" => primitives_never_taken(gpu), set(SANITIZE), silent();
    "sanitize_stages::mesh_never_taken" => mesh(gpu, 0, 99), set(SANITIZE), silent();
    "sanitize_stages::rays_never_taken" => rays(gpu, 0, 0), set(SANITIZE), silent();
};

/// Stage numbers in the mesh shaders.
const TASK: u32 = 1;
const MESH: u32 = 2;

fn fragment(gpu: &Gpu, pixel: [u32; 2]) -> Result<()> {
    let device = without_abort(gpu)?;
    let shaders = compile_stages_by(&["stage/cover.vert", "stage/fragment.frag"], compile_endless)?;
    let (image, result) = draw_compiled(&device, &shaders, &[], ShaderSource::Modules, pixel)?;
    expect_success(result)?;
    for (x, y) in [(16, 42), (17, 42), (18, 42), (17, 41), (63, 63)] {
        let shaded = [x as u8, y as u8, 255, 255];
        let expected = if [x, y] == pixel { [0; 4] } else { shaded };
        let found = image.texel(x, y);
        ensure!(found == expected, "pixel {x} {y} is {found:?}");
    }
    Ok(())
}

fn vertex(gpu: &Gpu, number: u32) -> Result<()> {
    let device = without_abort(gpu)?;
    let shaders = compile_stages_by(&["stage/vertex.vert", "stage/white.frag"], compile_endless)?;
    let (image, result) = draw_compiled(&device, &shaders, &[], ShaderSource::Modules, [number, 0])?;
    expect_success(result)?;
    match number < 3 {
        // The position of the vertex is undefined.
        true => Ok(()),
        false => image.expect_white(&[(0, 0), (63, 63)]),
    }
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    fragment(gpu, [1000, 1000])?;
    vertex(gpu, 7)
}

fn primitives_never_taken(gpu: &Gpu) -> Result<()> {
    let stages = [CONTROL, EVALUATION, GEOMETRY];
    stages.into_iter().try_for_each(|stage| primitives(gpu, stage, 99))
}

/// Draws with tessellation or geometry shaders. The invocation `at` of `stage` loops; all others count themselves.
fn primitives(gpu: &Gpu, stage: u32, at: u32) -> Result<()> {
    require_stages(gpu)?;
    let device = without_abort(gpu)?;
    let (names, count): (&[&str], usize) = match stage {
        GEOMETRY => (&GEOMETRY_SHADERS, 2),
        _ => (&TESSELLATION_SHADERS, 3),
    };
    let buffer = Buffer::storage(&device, &[0; 256])?;
    let shaders = compile_stages_by(names, compile_endless)?;
    let (image, result) = draw_compiled(&device, &shaders, &[&buffer], ShaderSource::Modules, [stage, at])?;
    expect_success(result)?;
    // The other invocation of the geometry shader draws, too.
    if stage == GEOMETRY || at as usize >= count {
        image.expect_white(&[(0, 0), (63, 63)])?;
    }
    let words = buffer.read();
    // An evaluation shader may run more than once for a corner.
    for (i, &stored) in notes(&words, stage)[..count].iter().enumerate() {
        ensure!(
            (stored == 0) == (i == at as usize),
            "invocation {i} stored {stored} times"
        );
    }
    Ok(())
}

/// Draws with task and mesh shaders. The invocation `at` of `stage` loops; all others count themselves.
fn mesh(gpu: &Gpu, stage: u32, at: u32) -> Result<()> {
    let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default()
        .task_shader(true)
        .mesh_shader(true);
    gpu.require_extension(ash::ext::mesh_shader::NAME)?;
    let options = DeviceOptions {
        abort: false,
        ..DeviceOptions::default()
    };
    let more = ExtraDeviceInfo {
        extensions: vec![ash::ext::mesh_shader::NAME],
        features: vec![&mut mesh],
    };
    let device = Device::extended(gpu, options, more)?;
    let buffer = Buffer::storage(&device, &[0; 256])?;
    let names = ["mesh/two.task", "mesh/triangle.mesh", "stage/white.frag"];
    let shaders = compile_stages_by(&names, compile_endless)?;
    let (image, result): (Image<'_>, _) =
        draw_compiled(&device, &shaders, &[&buffer], ShaderSource::Modules, [stage, at])?;
    expect_success(result)?;
    let words = buffer.read();
    if stage == 0 {
        image.expect_white(&[(0, 0), (63, 63)])?;
        ensure!(words[64..72] == [1; 8] && words[128..136] == [1; 8], "{words:?}");
        return Ok(());
    }
    for (i, &count) in words[stage as usize * 64..][..8].iter().enumerate() {
        let expected = u32::from(i != at as usize);
        ensure!(count == expected, "invocation {i} stored {count} times");
    }
    Ok(())
}

/// Traces with a loop in a stage and launch. Stage 0: without one.
fn rays(gpu: &Gpu, stage: u32, launch: u32) -> Result<()> {
    ray::on_device(gpu, |device| {
        let compiled: Vec<Vec<u32>> = ray::SHADERS
            .iter()
            .map(|name| compile_endless(name))
            .collect::<Result<_>>()?;
        let create = |rays: &mut Rays<'_>| ray::create(rays, &compiled);
        let (result, words, _) = ray::trace(device, [stage, launch], create)?;
        expect_success(result)?;
        ray::same_counts(&words, (stage != 0).then_some(launch as usize))
    })
}
