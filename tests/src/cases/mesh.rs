//! Aborts in task and mesh shaders.

use crate::case::{Case, Context, Skip};
use crate::expected::Payload;
use crate::glsl;
use crate::vk::{Buffer, Device, DeviceOptions, Gpu, Image, More, Pass, Stage, Way};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = &[
    Case::new("mesh::task_shader", |context| aborts(context, TASK, 6)).logs(&["task 6", "(6, 0, 0)"]),
    Case::new("mesh::mesh_shader", |context| aborts(context, MESH, 5)).logs(&["mesh 5"]),
    Case::new("mesh::never_taken_draws_the_same", never_taken).silent(),
];

/// Numbers of the stages in the shaders: where in the buffer each notes its invocations, and what the push constants name.
const TASK: u32 = 1;
const MESH: u32 = 2;

/// The task shader, and one that returns where it aborts.
fn task(aborts: bool) -> Result<Vec<u32>> {
    let abort = "abortEXT(\"task %u\", i);";
    match aborts {
        true => glsl::compile("mesh/two.task"),
        false => glsl::compile_changed(
            "mesh/two.task",
            &[
                ("note(gl_Global", "if (stage == 77) return; note(gl_Global"),
                (abort, ""),
            ],
        ),
    }
}

/// Mesa's lavapipe 25.0 launches no mesh workgroups from a task shader that returns early in some invocations, or could.
fn returns_early(context: &Context) -> Result<()> {
    let mut drawn = false;
    let (result, ..) = draw(context, &task(false)?, [0, 99], |image| {
        drawn = image.texel(31, 31) == [255; 4];
        Ok(())
    })?;
    ensure!(result == vk::Result::SUCCESS, "the draw ended with {result:?}");
    match drawn {
        true => Ok(()),
        false => Err(Skip("the driver launches no mesh workgroups if a task shader may return early".into()).into()),
    }
}

fn draw(
    context: &Context,
    task: &[u32],
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
    let (mesh, fragment) = (glsl::compile("mesh/triangle.mesh")?, glsl::compile("stage/white.frag")?);
    let stages = [
        (vk::ShaderStageFlags::TASK_EXT, task),
        (vk::ShaderStageFlags::MESH_EXT, &mesh),
        (vk::ShaderStageFlags::FRAGMENT, &fragment),
    ]
    .map(|(kind, spirv)| Stage { kind, spirv });
    let pass = Pass::with(&device, &stages, &[&buffer], Way::Modules)?;
    let submission = pass.record(&image, push)?;
    let result = submission.run();
    let lost = result == vk::Result::ERROR_DEVICE_LOST;
    let payloads = if lost { device.payloads()? } else { Vec::new() };
    check(&image)?;
    Ok((result, buffer.read(), payloads))
}

fn aborts(context: &Context, stage: u32, at: u32) -> Result<()> {
    if stage == MESH {
        returns_early(context)?;
    }
    let (result, words, payloads) = draw(context, &task(true)?, [stage, at], |_| Ok(()))?;
    ensure!(
        result == vk::Result::ERROR_DEVICE_LOST,
        "the draw ended with {result:?}"
    );
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
    returns_early(context)?;
    let (result, words, _) = draw(context, &task(true)?, [0, 99], |image| {
        image.expect_white(&[(0, 0), (63, 0), (0, 63), (63, 63)])
    })?;
    ensure!(result == vk::Result::SUCCESS, "the draw ended with {result:?}");
    ensure!(words[64..72] == [1; 8] && words[128..136] == [1; 8], "{words:?}");
    Ok(())
}
