//! Loops that do not end and prints, in every stage, and indices beyond the arrays of stages. The shaders are those of the other cases, with one in place of each abort.

use super::geometry::{CONTROL, EVALUATION, GEOMETRY, GEOMETRY_SHADERS, TESSELLATION_SHADERS, notes, require_stages};
use super::ray;
use super::sanitize::{ENDLESS, SANITIZE};
use super::support::{compile_stages_by, draw_compiled, expect_success, without_abort};
use crate::case::{Case, cases};
use crate::glsl::{compile_endless, compile_printing, compile_with};
use crate::vk::{Buffer, Device, DeviceOptions, ExtraDeviceInfo, Gpu, Image, Rays, ShaderSource};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "sanitize_stages::fragment" => fragment(gpu, LOOPS, [17, 42]), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::vertex" => vertex(gpu, LOOPS, 1), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::tessellation_control" => primitives(gpu, LOOPS, CONTROL, 1), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::tessellation_evaluation" => primitives(gpu, LOOPS, EVALUATION, 2), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::geometry" => primitives(gpu, LOOPS, GEOMETRY, 1), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::task" => mesh(gpu, LOOPS, TASK, 6), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::mesh" => mesh(gpu, LOOPS, MESH, 5), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::ray_generation" => rays(gpu, LOOPS, 1, 10), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::miss" => rays(gpu, LOOPS, 2, 31), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::callable" => rays(gpu, LOOPS, 3, 45), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::closest_hit" => rays(gpu, LOOPS, 4, 48), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::any_hit" => rays(gpu, LOOPS, 5, 19), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::intersection" => rays(gpu, LOOPS, 6, 36), set(SANITIZE), logs(ENDLESS);
    "sanitize_stages::beyond_inputs_of_tessellation_control" => primitives(gpu, BEYOND, CONTROL, 1), set(SANITIZE),
        logs(&["index 33 is out of bounds of `gl_in` (32 elements)"]);
    "sanitize_stages::beyond_inputs_of_tessellation_evaluation" => primitives(gpu, BEYOND, EVALUATION, 2), set(SANITIZE),
        logs(&["index 34 is out of bounds of `gl_in` (32 elements)"]);
    "sanitize_stages::beyond_inputs_of_geometry" => primitives(gpu, BEYOND, GEOMETRY, 1), set(SANITIZE),
        logs(&["index 4 is out of bounds of `gl_in` (3 elements)"]);
    "sanitize_stages::beyond_a_task_payload" => mesh(gpu, BEYOND, TASK, 6), set(SANITIZE),
        logs(&["index 10 is out of bounds of `payload.items` (4 elements)"]);
    "sanitize_stages::beyond_outputs_of_mesh" => mesh(gpu, BEYOND, MESH, 5), set(SANITIZE),
        logs(&["index 8 is out of bounds of `gl_MeshVerticesEXT` (3 elements)"]);
    "sanitize_stages::graphics_never_taken" => never_taken(gpu), set(SANITIZE), silent();
    "sanitize_stages::primitives_never_taken" => primitives_never_taken(gpu), set(SANITIZE), silent();
    "sanitize_stages::mesh_never_taken" => mesh(gpu, LOOPS, 0, 99), set(SANITIZE), silent();
    "sanitize_stages::rays_never_taken" => rays(gpu, LOOPS, 0, 0), set(SANITIZE), silent();
    "prints::in_fragment_shaders" => fragment(gpu, PRINTS, [17, 42]), set(PRINTF), logs(&["[fragment pixel (17, 42)] pixel 17 42"]);
    "prints::in_vertex_shaders" => vertex(gpu, PRINTS, 1), set(PRINTF), logs(&["[vertex vertex 1, instance 0] vertex 1 of instance 0"]);
    "prints::in_tessellation_control_shaders" => primitives(gpu, PRINTS, CONTROL, 1), set(PRINTF),
        logs(&["[tessellation control primitive 0, invocation 1] control 1"]);
    "prints::in_tessellation_evaluation_shaders" => primitives(gpu, PRINTS, EVALUATION, 2), set(PRINTF),
        logs(&["[tessellation evaluation primitive 0, invocation 0] evaluation 2"]);
    "prints::in_geometry_shaders" => primitives(gpu, PRINTS, GEOMETRY, 1), set(PRINTF),
        logs(&["[geometry primitive 0, invocation 1] geometry 1"]);
    "prints::in_task_shaders" => mesh(gpu, PRINTS, TASK, 6), set(PRINTF), logs(&["[task global (", "] task 6"]);
    "prints::in_mesh_shaders" => mesh(gpu, PRINTS, MESH, 5), set(PRINTF), logs(&["[mesh global (", "] mesh 5"]);
    "prints::in_ray_generation_shaders" => rays(gpu, PRINTS, 1, 10), set(PRINTF), logs(&["[ray generation launch (", "] ray generation 10"]);
    "prints::in_miss_shaders" => rays(gpu, PRINTS, 2, 31), set(PRINTF), logs(&["] miss 31"]);
    "prints::in_callable_shaders" => rays(gpu, PRINTS, 3, 45), set(PRINTF), logs(&["] callable 45"]);
    "prints::in_closest_hit_shaders" => rays(gpu, PRINTS, 4, 48), set(PRINTF), logs(&["] closest hit 48"]);
    "prints::in_any_hit_shaders" => rays(gpu, PRINTS, 5, 19), set(PRINTF), logs(&["] any hit 19"]);
    "prints::in_intersection_shaders" => rays(gpu, PRINTS, 6, 36), set(PRINTF), logs(&["] intersection 36"]);
    "prints::in_no_stage" => nothing_printed(gpu), set(PRINTF), silent();
};

/// Shows the invocations, too.
const PRINTF: &[(&str, &str)] = &[("printf", "invocations")];

/// Code that replaces aborts.
#[derive(Clone, Copy)]
struct Effect {
    compile: fn(&str) -> Result<Vec<u32>>,
    /// Whether the invocation ends.
    ends: bool,
}

const LOOPS: Effect = Effect {
    compile: compile_endless,
    ends: true,
};
const PRINTS: Effect = Effect {
    compile: compile_printing,
    ends: false,
};

/// An index beyond an array of the stage.
const BEYOND: Effect = Effect {
    compile: |name| {
        let (_, stage) = name.split_once('.').unwrap_or_default();
        let statement = match stage {
            "tesc" | "tese" => "atomicAdd(words[0], uint(gl_in[i + 32u].gl_Position.x));",
            "geom" => "atomicAdd(words[0], uint(gl_in[i + 3u].gl_Position.x));",
            "task" => "payload.items[i + 4u] = 1u;",
            "mesh" => "gl_MeshVerticesEXT[i + 3u].gl_Position = vec4(0.0);",
            _ => "",
        };
        compile_with(name, statement)
    },
    ends: true,
};

/// Stage numbers in the mesh shaders.
const TASK: u32 = 1;
const MESH: u32 = 2;

fn fragment(gpu: &Gpu, effect: Effect, pixel: [u32; 2]) -> Result<()> {
    let device = without_abort(gpu)?;
    let shaders = compile_stages_by(&["stage/cover.vert", "stage/fragment.frag"], effect.compile)?;
    let (image, result) = draw_compiled(&device, &shaders, &[], ShaderSource::Modules, pixel)?;
    expect_success(result)?;
    for (x, y) in [(16, 42), (17, 42), (18, 42), (17, 41), (63, 63)] {
        let shaded = [x as u8, y as u8, 255, 255];
        let expected = if effect.ends && [x, y] == pixel { [0; 4] } else { shaded };
        let found = image.texel(x, y);
        ensure!(found == expected, "pixel {x} {y} is {found:?}");
    }
    Ok(())
}

fn vertex(gpu: &Gpu, effect: Effect, number: u32) -> Result<()> {
    let device = without_abort(gpu)?;
    let shaders = compile_stages_by(&["stage/vertex.vert", "stage/white.frag"], effect.compile)?;
    let (image, result) = draw_compiled(&device, &shaders, &[], ShaderSource::Modules, [number, 0])?;
    expect_success(result)?;
    match effect.ends && number < 3 {
        // The position of the vertex is undefined.
        true => Ok(()),
        false => image.expect_white(&[(0, 0), (63, 63)]),
    }
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    fragment(gpu, LOOPS, [1000, 1000])?;
    vertex(gpu, LOOPS, 7)
}

fn nothing_printed(gpu: &Gpu) -> Result<()> {
    fragment(gpu, PRINTS, [1000, 1000])?;
    vertex(gpu, PRINTS, 7)
}

fn primitives_never_taken(gpu: &Gpu) -> Result<()> {
    let stages = [CONTROL, EVALUATION, GEOMETRY];
    stages
        .into_iter()
        .try_for_each(|stage| primitives(gpu, LOOPS, stage, 99))
}

/// Draws with tessellation or geometry shaders. The invocation `at` of `stage` loops; all others count themselves.
fn primitives(gpu: &Gpu, effect: Effect, stage: u32, at: u32) -> Result<()> {
    require_stages(gpu)?;
    let device = without_abort(gpu)?;
    let (names, count): (&[&str], usize) = match stage {
        GEOMETRY => (&GEOMETRY_SHADERS, 2),
        _ => (&TESSELLATION_SHADERS, 3),
    };
    let buffer = Buffer::storage(&device, &[0; 256])?;
    let shaders = compile_stages_by(names, effect.compile)?;
    let (image, result) = draw_compiled(&device, &shaders, &[&buffer], ShaderSource::Modules, [stage, at])?;
    expect_success(result)?;
    // The other invocation of the geometry shader draws, too.
    if !effect.ends || stage == GEOMETRY || at as usize >= count {
        image.expect_white(&[(0, 0), (63, 63)])?;
    }
    let words = buffer.read();
    // An evaluation shader may run more than once for a corner.
    for (i, &stored) in notes(&words, stage)[..count].iter().enumerate() {
        ensure!(
            (stored == 0) == (effect.ends && i == at as usize),
            "invocation {i} stored {stored} times"
        );
    }
    Ok(())
}

/// Draws with task and mesh shaders. The invocation `at` of `stage` loops; all others count themselves.
fn mesh(gpu: &Gpu, effect: Effect, stage: u32, at: u32) -> Result<()> {
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
    let shaders = compile_stages_by(&names, effect.compile)?;
    let (image, result): (Image<'_>, _) =
        draw_compiled(&device, &shaders, &[&buffer], ShaderSource::Modules, [stage, at])?;
    expect_success(result)?;
    let words = buffer.read();
    if stage == 0 || !effect.ends {
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
fn rays(gpu: &Gpu, effect: Effect, stage: u32, launch: u32) -> Result<()> {
    ray::on_device(gpu, |device| {
        let compiled: Vec<Vec<u32>> = ray::SHADERS
            .iter()
            .map(|name| (effect.compile)(name))
            .collect::<Result<_>>()?;
        let create = |rays: &mut Rays<'_>| ray::create(rays, &compiled);
        let (result, words, _) = ray::trace(device, [stage, launch], create)?;
        expect_success(result)?;
        ray::same_counts(&words, (effect.ends && stage != 0).then_some(launch as usize))
    })
}
