//! Graphics shader objects, linked and unlinked, from SPIR-V and from binaries.

use super::command_pool::ON;
use super::shader_binary::{aligned, destroy, objects, open};
use super::stage::check_fragment;
use super::support::{bytes, expect_success};
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Device, Gpu, Image};
use anyhow::Result;
use ash::{ext, vk};

const DRAW: &[&str] = &[
    "pixel 17 42",
    "= command: vkCmdDraw(3, 1, 0, 0), the 1st of a command buffer without a name",
];

pub(super) const CASES: &[Case] = cases! {
    "shader_object::linked_shaders_abort" => draw(gpu, Kind::Linked, [17, 42]), logs(&["pixel 17 42"]);
    "shader_object::unlinked_shaders_abort" => draw(gpu, Kind::Unlinked, [17, 42]), set(ON), logs(DRAW);
    "shader_object::binaries_abort" => draw(gpu, Kind::Binary, [17, 42]), set(ON), logs(DRAW);
    "shader_object::linked_binaries_abort" => draw(gpu, Kind::LinkedBinary, [17, 42]), logs(&["pixel 17 42"]);
    "shader_object::never_taken_draws_the_same" => never_taken(gpu), silent();
    "prints::of_shader_objects" => prints(gpu), set(&[("printf", "on")]), logs(&["pixel 17 42\n"]);
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Linked,
    Unlinked,
    /// From binaries whose source shaders were destroyed.
    Binary,
    /// The same, linked before and after.
    LinkedBinary,
}

const STAGES: [vk::ShaderStageFlags; 2] = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];

/// Other graphics stages of the test devices.
const UNUSED: [vk::ShaderStageFlags; 3] = [
    vk::ShaderStageFlags::TESSELLATION_CONTROL,
    vk::ShaderStageFlags::TESSELLATION_EVALUATION,
    vk::ShaderStageFlags::GEOMETRY,
];

/// Creates both shaders in one call. Returns the handles that it wrote, and its result.
pub(super) fn create(
    objects: &ext::shader_object::Device,
    ranges: &[vk::PushConstantRange],
    code: &[Vec<u8>; 2],
    kind: Kind,
) -> (Vec<vk::ShaderEXT>, vk::Result) {
    let copies: Vec<_> = code.iter().map(|code| aligned(code)).collect();
    let mut infos = Vec::new();
    for ((stage, code), copy) in STAGES.into_iter().zip(code).zip(&copies) {
        let mut info = vk::ShaderCreateInfoEXT::default()
            .stage(stage)
            .code_type(if matches!(kind, Kind::Binary | Kind::LinkedBinary) {
                vk::ShaderCodeTypeEXT::BINARY
            } else {
                vk::ShaderCodeTypeEXT::SPIRV
            })
            .name(c"main")
            .push_constant_ranges(ranges);
        if stage == vk::ShaderStageFlags::VERTEX {
            info = info.next_stage(vk::ShaderStageFlags::FRAGMENT);
        }
        if matches!(kind, Kind::Linked | Kind::LinkedBinary) {
            info = info.flags(vk::ShaderCreateFlagsEXT::LINK_STAGE);
        }
        info.code_size = code.len();
        info.p_code = copy.as_ptr().cast();
        infos.push(info);
    }
    // SAFETY: each create info points to code and ranges that outlive the call.
    let created = unsafe { objects.create_shaders(&infos, None) };
    created.map_or_else(|error| error, |shaders| (shaders, vk::Result::SUCCESS))
}

fn draw(gpu: &Gpu, kind: Kind, push: [u32; 2]) -> Result<()> {
    draw_by(gpu, kind, push, (glsl::compile, push))
}

/// Compiles a file of `shaders/`.
type Compile = fn(&str) -> Result<Vec<u32>>;

/// Peers print nothing for shader objects.
fn prints(gpu: &Gpu) -> Result<()> {
    let kinds = [Kind::Linked, Kind::Unlinked];
    let draw = |kind| draw_by(gpu, kind, [17, 42], (glsl::compile_printing, [1000, 1000]));
    kinds.into_iter().try_for_each(draw)
}

/// Draws with shaders of a compiler, of which the invocation at `aborting` aborts.
fn draw_by(gpu: &Gpu, kind: Kind, push: [u32; 2], (compile, aborting): (Compile, [u32; 2])) -> Result<()> {
    let device = open(gpu)?;
    let objects = objects(&device);
    let used = STAGES[0] | STAGES[1];
    let ranges = [vk::PushConstantRange::default().stage_flags(used).size(8)];
    let code = ["stage/cover.vert", "stage/fragment.frag"].map(compile);
    let [vertex, fragment] = code;
    let code = [bytes(&vertex?), bytes(&fragment?)];
    let (mut shaders, mut result) = create(
        &objects,
        &ranges,
        &code,
        match kind {
            Kind::Linked | Kind::LinkedBinary => Kind::Linked,
            Kind::Unlinked | Kind::Binary => Kind::Unlinked,
        },
    );
    expect_success(result)?;
    if matches!(kind, Kind::Binary | Kind::LinkedBinary) {
        // SAFETY: the shaders belong to the device.
        let data = [0, 1].map(|i| unsafe { objects.get_shader_binary_data(shaders[i]) });
        let [vertex, fragment] = data;
        destroy(&objects, &shaders);
        (shaders, result) = create(&objects, &ranges, &[vertex?, fragment?], kind);
        expect_success(result)?;
    }
    let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
    // SAFETY: the structure is valid.
    let layout = unsafe { device.raw.create_pipeline_layout(&info, None) }?;
    let result = check(&device, &objects, &shaders, layout, [push, aborting]);
    destroy(&objects, &shaders);
    // SAFETY: no pending submission uses the layout.
    unsafe { device.raw.destroy_pipeline_layout(layout, None) };
    result
}

fn never_taken(gpu: &Gpu) -> Result<()> {
    let kinds = [Kind::Linked, Kind::Unlinked, Kind::Binary, Kind::LinkedBinary];
    kinds.into_iter().try_for_each(|kind| draw(gpu, kind, [1000, 1000]))
}

fn check(
    device: &Device<'_>,
    objects: &ext::shader_object::Device,
    shaders: &[vk::ShaderEXT],
    layout: vk::PipelineLayout,
    [push, aborting]: [[u32; 2]; 2],
) -> Result<()> {
    let image = Image::new(device)?;
    let submission = image.record(|raw, commands| {
        // SAFETY: the command buffer is being recorded; shaders and layout live until it has executed.
        unsafe {
            set_state(objects, commands);
            objects.cmd_bind_shaders(commands, &STAGES, shaders);
            // The device enables these stages, so they must be bound, to null.
            objects.cmd_bind_shaders(commands, &UNUSED, &[vk::ShaderEXT::null(); 3]);
            raw.cmd_push_constants(commands, layout, STAGES[0] | STAGES[1], 0, &bytes(&push));
            raw.cmd_draw(commands, 3, 1, 0, 0);
        }
    })?;
    let result = submission.run();
    check_fragment(device, &image, result, aborting)
}

/// Sets the state that a pipeline would contain.
///
/// # Safety
///
/// `commands` must be in the recording state.
unsafe fn set_state(objects: &ext::shader_object::Device, commands: vk::CommandBuffer) {
    let extent = Image::EXTENT;
    let viewport = vk::Viewport {
        width: extent as f32,
        height: extent as f32,
        max_depth: 1.0,
        ..Default::default()
    };
    let scissor = vk::Rect2D {
        extent: vk::Extent2D {
            width: extent,
            height: extent,
        },
        ..Default::default()
    };
    // SAFETY: `commands` is in the recording state; the device enables `VK_EXT_shader_object`.
    unsafe {
        objects.cmd_set_viewport_with_count(commands, &[viewport]);
        objects.cmd_set_scissor_with_count(commands, &[scissor]);
        objects.cmd_set_rasterizer_discard_enable(commands, false);
        objects.cmd_set_vertex_input(commands, &[], &[]);
        objects.cmd_set_primitive_topology(commands, vk::PrimitiveTopology::TRIANGLE_LIST);
        objects.cmd_set_primitive_restart_enable(commands, false);
        objects.cmd_set_polygon_mode(commands, vk::PolygonMode::FILL);
        objects.cmd_set_rasterization_samples(commands, vk::SampleCountFlags::TYPE_1);
        objects.cmd_set_sample_mask(commands, vk::SampleCountFlags::TYPE_1, &[u32::MAX]);
        objects.cmd_set_alpha_to_coverage_enable(commands, false);
        objects.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
        objects.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
        objects.cmd_set_depth_test_enable(commands, false);
        objects.cmd_set_depth_write_enable(commands, false);
        objects.cmd_set_depth_bias_enable(commands, false);
        objects.cmd_set_stencil_test_enable(commands, false);
        objects.cmd_set_color_blend_enable(commands, 0, &[vk::FALSE]);
        objects.cmd_set_color_write_mask(commands, 0, &[vk::ColorComponentFlags::RGBA]);
    }
}
