//! Aborts in task and mesh shaders.

use super::support::{expect_lost, expect_success, payloads_if_lost};
use crate::case::{Case, Context};
use crate::glsl;
use crate::payload::Payload;
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Image, More, Pass, Stage, Way};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("mesh::task_shader", |context| aborts(context, TASK, 6)).logs(&["task 6", "(6, 0, 0)"]),
    Case::new("mesh::mesh_shader", |context| aborts(context, MESH, 5)).logs(&["mesh 5"]),
    Case::new("mesh::never_taken_draws_the_same", never_taken).silent(),
];

/// Stage numbers in the shaders: the index of each stage's counters in the buffer, and the value of the push constant.
const TASK: u32 = 1;
const MESH: u32 = 2;

fn draw(
    context: &Context,
    push: [u32; 2],
    check: impl FnOnce(&Image<'_>) -> Result<()>,
) -> Result<(vk::Result, Vec<u32>, Vec<Vec<u8>>)> {
    let gpu = Gpu::open(context)?;
    gpu.require_extension(ash::ext::mesh_shader::NAME)?;
    let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default()
        .task_shader(true)
        .mesh_shader(true);
    let more = More {
        extensions: vec![ash::ext::mesh_shader::NAME],
        features: vec![&mut mesh],
    };
    let device = Device::extended(&gpu, DeviceOptions::default(), more)?;
    let image = Image::new(&device)?;
    let buffer = Buffer::storage(&device, &[0; 256])?;
    let shaders = ["mesh/two.task", "mesh/triangle.mesh", "stage/white.frag"];
    let [task, mesh, fragment] = shaders.map(glsl::compile);
    let (task, mesh, fragment) = (task?, mesh?, fragment?);
    let stages = [
        (vk::ShaderStageFlags::TASK_EXT, &task),
        (vk::ShaderStageFlags::MESH_EXT, &mesh),
        (vk::ShaderStageFlags::FRAGMENT, &fragment),
    ]
    .map(|(kind, spirv)| Stage { kind, spirv });
    let pass = Pass::with(&device, &stages, &[&buffer], Way::Modules)?;
    let submission = pass.record(&image, push)?;
    let result = submission.run();
    let payloads = payloads_if_lost(&device, result)?;
    check(&image)?;
    Ok((result, buffer.read(), payloads))
}

fn aborts(context: &Context, stage: u32, at: u32) -> Result<()> {
    let (result, words, payloads) = draw(context, [stage, at], |_| Ok(()))?;
    expect_lost(result)?;
    let name = if stage == TASK { "task" } else { "mesh" };
    let expected = Payload::text(&format!("{name} %u")).scalar(at).bytes();
    ensure!(payloads == [expected], "{payloads:?}");
    for (i, &count) in words[stage as usize * 64..][..8].iter().enumerate() {
        let expected = u32::from(i != at as usize);
        ensure!(count == expected, "invocation {i} stored {count} times");
    }
    Ok(())
}

fn never_taken(context: &Context) -> Result<()> {
    let (result, words, _) = draw(context, [0, 99], |image| {
        image.expect_white(&[(0, 0), (63, 0), (0, 63), (63, 63)])
    })?;
    expect_success(result)?;
    ensure!(words[64..72] == [1; 8] && words[128..136] == [1; 8], "{words:?}");
    Ok(())
}
