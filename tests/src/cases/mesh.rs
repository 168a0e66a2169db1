//! Aborts in task and mesh shaders.

use super::command_pool::ON;
use super::support::{Ran, draw_with_words};
use crate::case::{Case, cases};
use crate::payload::Payload;
use crate::vk::{Device, Gpu, Image};
use anyhow::{Result, ensure};
use ash::vk;

pub(super) const CASES: &[Case] = cases! {
    "mesh::task_shader" => aborts(gpu, TASK, 6), set(ON),
        logs(&[
            "task 6",
            "(6, 0, 0)",
            "= condition: stage == 1 && at == i with stage = 1",
            "= command: vkCmdDrawMeshTasksEXT(2, 1, 1), the 1st of a command buffer without a name",
        ]);
    "mesh::mesh_shader" => aborts(gpu, MESH, 5), logs(&["mesh 5", "= condition: stage == 2 && at == i with stage = 2"]);
    "mesh::never_taken_draws_the_same" => never_taken(gpu), silent();
};

/// Stage numbers in the shaders: the index of each stage's counters in the buffer, and the value of the push constant.
const TASK: u32 = 1;
const MESH: u32 = 2;

/// Draws on a device with mesh shaders, then passes the image and the outcome to `check`.
fn draw(gpu: &Gpu, push: [u32; 2], check: impl FnOnce(&Image<'_>, Ran) -> Result<()>) -> Result<()> {
    let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default()
        .task_shader(true)
        .mesh_shader(true);
    let device = Device::with_extensions(gpu, &[ash::ext::mesh_shader::NAME], vec![&mut mesh])?;
    let shaders = ["mesh/two.task", "mesh/triangle.mesh", "stage/white.frag"];
    let (image, ran) = draw_with_words(&device, &shaders, push)?;
    check(&image, ran)
}

fn aborts(gpu: &Gpu, stage: u32, at: u32) -> Result<()> {
    draw(gpu, [stage, at], |_, ran| {
        let (words, payloads) = ran.lost()?;
        let name = if stage == TASK { "task" } else { "mesh" };
        let expected = Payload::text(&format!("{name} %u")).scalar(at).bytes();
        ensure!(payloads == [expected], "{payloads:?}");
        for (i, &count) in words[stage as usize * 64..][..8].iter().enumerate() {
            let expected = u32::from(i != at as usize);
            ensure!(count == expected, "invocation {i} stored {count} times");
        }
        Ok(())
    })
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    draw(gpu, [0, 99], |image, ran| {
        image.expect_white(&[(0, 0), (63, 0), (0, 63), (63, 63)])?;
        let words = ran.succeeded()?;
        ensure!(words[64..72] == [1; 8] && words[128..136] == [1; 8], "{words:?}");
        Ok(())
    })
}
