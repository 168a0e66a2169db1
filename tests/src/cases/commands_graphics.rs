//! `commands = on`: reports name the draw that they are of, in render passes and dynamic rendering.

use super::command_pool::ON;
use super::support::expect_lost;
use crate::case::{Case, cases};
use crate::glsl;
use crate::vk::{Device, GraphicsState, Image, Pass, stage};
use anyhow::Result;
use ash::vk;

const WHOLE: &[&str] = &[
    "= invocation pixel (17, 42)",
    "= command: vkCmdDraw(3, 1, 0, 0), the 2nd of a command buffer without a name",
];

pub(super) const CASES: &[Case] = cases! {
    "commands_graphics::a_vertex_of_an_instance" => vertex(device, [1, 0]), set(ON),
        logs(&["= invocation vertex 1, instance 5", "= command: vkCmdDraw(3, 1, 0, 5), the 2nd of"]);
    "commands_graphics::a_vertex_behind_the_first" => vertex(device, [4, 0]), set(ON),
        logs(&["= invocation vertex 4, instance 0", "= command: vkCmdDraw(3, 1, 3, 0), the 3rd of"]);
    "commands_graphics::a_pixel_in_dynamic_rendering" => pixel(device, false), set(ON), logs(WHOLE);
    "commands_graphics::a_pixel_in_a_render_pass" => pixel(device, true), set(ON), logs(WHOLE);
};

/// Three draws, of which one has the vertex and the instance.
fn vertex(device: &Device<'_>, push: [u32; 2]) -> Result<()> {
    let pass = Pass::new(
        device,
        &glsl::compile("stage/vertex.vert")?,
        &glsl::compile("stage/white.frag")?,
    )?;
    let image = Image::new(device)?;
    let submission = image.record(|raw, commands| {
        // SAFETY: the command buffer is being recorded, and the objects outlive its execution.
        unsafe {
            pass.bind(raw, commands, pass.pipeline(), [u32::MAX, 0]);
            raw.cmd_draw(commands, 0, 1, 0, 5);
            pass.bind(raw, commands, pass.pipeline(), push);
            raw.cmd_draw(commands, 3, 1, 0, 5);
            raw.cmd_draw(commands, 3, 1, 3, 0);
        }
    })?;
    expect_lost(submission.run())
}

/// Two passes with one draw each, of which the first does not reach the pixel.
fn pixel(device: &Device<'_>, in_render_pass: bool) -> Result<()> {
    let codes = [
        glsl::compile("stage/cover.vert")?,
        glsl::compile("stage/fragment.frag")?,
    ];
    let pass = Pass::new(device, &codes[0], &codes[1])?;
    let image = Image::new(device)?;
    let areas =
        [16, Image::EXTENT].map(|side| vk::Rect2D::default().extent(vk::Extent2D::default().width(side).height(side)));
    let objects = match in_render_pass {
        true => Some(RenderPass::new(device, &image, pass.layout(), &codes)?),
        false => None,
    };
    let submission = image.record(|raw, commands| {
        // SAFETY: the command buffer is being recorded in a rendering, and the objects outlive its execution.
        unsafe {
            raw.cmd_end_rendering(commands);
            for area in areas {
                match &objects {
                    Some(objects) => objects.begin(commands, area),
                    None => begin_rendering(raw, commands, &image, area),
                }
                let pipeline = objects.as_ref().map_or(pass.pipeline(), |objects| objects.pipeline);
                pass.bind(raw, commands, pipeline, [17, 42]);
                raw.cmd_draw(commands, 3, 1, 0, 0);
                match &objects {
                    Some(_) => raw.cmd_end_render_pass(commands),
                    None => raw.cmd_end_rendering(commands),
                }
            }
            begin_rendering(raw, commands, &image, areas[0]);
        }
    })?;
    expect_lost(submission.run())
}

/// # Safety
/// The command buffer must be recorded outside of a rendering.
unsafe fn begin_rendering(raw: &ash::Device, commands: vk::CommandBuffer, image: &Image<'_>, area: vk::Rect2D) {
    let attachments = [vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::LOAD)
        .store_op(vk::AttachmentStoreOp::STORE)];
    let info = vk::RenderingInfo::default()
        .render_area(area)
        .layer_count(1)
        .color_attachments(&attachments);
    // SAFETY: the command buffer is being recorded (the caller's contract), and the image outlives its use.
    unsafe { raw.cmd_begin_rendering(commands, &info) };
}

/// A render pass with a pipeline.
struct RenderPass<'a> {
    device: &'a Device<'a>,
    render_pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    pipeline: vk::Pipeline,
}

impl<'a> RenderPass<'a> {
    fn new(
        device: &'a Device<'a>,
        image: &Image<'_>,
        layout: vk::PipelineLayout,
        codes: &[Vec<u32>; 2],
    ) -> Result<Self> {
        let drawn = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let attachments = [vk::AttachmentDescription::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::STORE)
            .initial_layout(drawn)
            .final_layout(drawn)];
        let references = [vk::AttachmentReference::default().layout(drawn)];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses);
        let raw = &device.raw;
        // SAFETY: the handles belong to the device, and the structures are valid.
        unsafe {
            let render_pass = raw.create_render_pass(&info, None)?;
            let views = [image.view];
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(render_pass)
                .attachments(&views)
                .width(Image::EXTENT)
                .height(Image::EXTENT)
                .layers(1);
            let framebuffer = raw.create_framebuffer(&info, None)?;
            let kinds = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];
            let mut stages = Vec::new();
            for (kind, code) in kinds.into_iter().zip(codes) {
                let module = raw.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(code), None)?;
                stages.push(stage(module).stage(kind));
            }
            let state = GraphicsState {
                used: kinds[0] | kinds[1],
                render_pass,
                ..GraphicsState::default()
            };
            let pipeline = state.create(raw, layout, &stages, None)?;
            for stage in stages {
                raw.destroy_shader_module(stage.module, None);
            }
            Ok(Self {
                device,
                render_pass,
                framebuffer,
                pipeline,
            })
        }
    }

    /// # Safety
    /// The command buffer must be recorded outside of a rendering.
    unsafe fn begin(&self, commands: vk::CommandBuffer, area: vk::Rect2D) {
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.render_pass)
            .framebuffer(self.framebuffer)
            .render_area(area);
        // SAFETY: the command buffer is being recorded (the caller's contract).
        unsafe {
            self.device
                .raw
                .cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE)
        };
    }
}

impl Drop for RenderPass<'_> {
    fn drop(&mut self) {
        // SAFETY: the device is lost, or its work complete.
        unsafe {
            self.device.raw.destroy_pipeline(self.pipeline, None);
            self.device.raw.destroy_framebuffer(self.framebuffer, None);
            self.device.raw.destroy_render_pass(self.render_pass, None);
        }
    }
}
