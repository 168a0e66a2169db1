//! Records the commands of a frame.

use crate::barriers::{self, COLOR, COMPUTED, COPIED, DEPTH, SAMPLED, Use};
use crate::device::Device;
use crate::mesh::Vertex;
use crate::options::Abort;
use crate::pipelines::{CONSTANT_STAGES, Constants, Pipelines};
use crate::resources::{Buffer, Image};
use crate::scene::{PATTERN_SIZE, Scene};
use crate::swapchain::TargetImage;
use crate::text::{GLYPH, Text};
use ash::vk::{self, AccessFlags2 as Access, PipelineStageFlags2 as Stage};
use glam::{IVec2, Mat4, Quat, Vec2, Vec3};
use std::ffi::CStr;

/// Sky above the cube, in linear colours.
const BACKGROUND: [f32; 4] = [0.012, 0.02, 0.035, 1.0];
/// Newton's method ends with a step below this.
const TOLERANCE: f32 = 1e-3;
/// The vertex that is made corrupt.
const CORRUPT_VERTEX: usize = 17;
/// Invocations of a workgroup of `pattern.comp` in x and y.
const WORKGROUP: u32 = 8;

/// The contents of a frame.
pub struct Contents<'a> {
    /// The cube's rotation.
    pub rotation: Quat,
    /// The text over it.
    pub text: &'a Text,
    /// The shader that is to abort.
    pub abort: Option<Abort>,
}

/// A command buffer, and the objects that its commands use.
pub struct Recording<'a> {
    /// The device.
    pub device: &'a Device,
    /// The command buffer, which is being recorded.
    pub commands: vk::CommandBuffer,
    /// The pipelines.
    pub pipelines: &'a Pipelines,
    /// The resources that the pipelines read.
    pub scene: &'a Scene,
    /// The depth buffer.
    pub depth: &'a Image,
    /// The image to draw to.
    pub image: &'a TargetImage,
    /// The contents of the frame.
    pub contents: &'a Contents<'a>,
}

impl Recording<'_> {
    /// Records the frame with the text in `glyphs`. Computes the texture unless `has_pattern`, and copies the frame to
    /// `copy`.
    pub fn record(&self, glyphs: vk::Buffer, has_pattern: bool, copy: Option<&Buffer>) {
        self.push_constants();
        if !has_pattern || self.contents.abort == Some(Abort::Compute) {
            self.label(c"texture", || self.compute_pattern(has_pattern));
        }
        if self.contents.abort == Some(Abort::Vertex) {
            self.corrupt_vertex();
        }
        // The frame before may still use the depth buffer. The semaphore of the image lets the stage of colour output wait.
        self.barrier(self.image.image, COLOR.discarded(), COLOR);
        let aspect = vk::ImageAspectFlags::DEPTH;
        barriers::image(
            &self.device.raw,
            self.commands,
            self.depth.raw,
            aspect,
            DEPTH.discarded(),
            DEPTH,
        );
        self.begin_rendering();
        self.label(c"cube", || self.draw_cube());
        self.label(c"text", || self.draw_text(glyphs));
        // SAFETY: `begin_rendering` started a render pass instance.
        unsafe { self.device.raw.cmd_end_rendering(self.commands) };
        let end = Use::end(self.image.layout);
        match copy {
            Some(buffer) => {
                self.barrier(self.image.image, COLOR, COPIED);
                self.copy_to(buffer);
                self.barrier(self.image.image, COPIED, end);
            }
            None => self.barrier(self.image.image, COLOR, end),
        }
    }

    fn label(&self, name: &CStr, record: impl FnOnce()) {
        self.device.label(self.commands, name, record);
    }

    fn barrier(&self, image: vk::Image, before: Use, after: Use) {
        let aspect = vk::ImageAspectFlags::COLOR;
        barriers::image(&self.device.raw, self.commands, image, aspect, before, after);
    }

    fn push_constants(&self) {
        let extent = self.image.extent;
        let viewport = Vec2::new(extent.width as f32, extent.height as f32);
        // The cube fits into the shorter side of the window.
        let vertical = 2.0 * (0.42 * (viewport.y / viewport.x).max(1.0)).atan();
        let mut projection = Mat4::perspective_rh(vertical, viewport.x / viewport.y, 0.1, 10.0)
            * Mat4::look_at_rh(Vec3::Z * 5.0, Vec3::ZERO, Vec3::Y);
        // In Vulkan's clip coordinates, y points down.
        projection = Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0)) * projection;
        let constants = Constants {
            projection,
            rotation: self.contents.rotation,
            abort_pixel: match self.contents.abort {
                Some(Abort::Fragment(pixel)) => pixel.into(),
                _ => IVec2::NEG_ONE,
            },
            tolerance: match self.contents.abort {
                Some(Abort::Compute) => -1.0,
                _ => TOLERANCE,
            },
            text_scale: self.contents.text.scale(),
            viewport,
            glyph: Vec2::from(GLYPH.map(|size| size as f32)),
        };
        let bytes = bytemuck::bytes_of(&constants);
        // SAFETY: the layout has this range of push constants.
        unsafe {
            self.device
                .raw
                .cmd_push_constants(self.commands, self.pipelines.layout, CONSTANT_STAGES, 0, bytes);
        }
    }

    fn bind(&self, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
        let (device, commands, layout) = (&self.device.raw, self.commands, self.pipelines.layout);
        // SAFETY: pipeline, layout and set are of this device and compatible.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.scene.set], &[]);
        }
    }

    fn compute_pattern(&self, has_pattern: bool) {
        let image = self.scene.pattern.raw;
        let before = if has_pattern { SAMPLED } else { SAMPLED.discarded() };
        self.barrier(image, before, COMPUTED);
        self.bind(vk::PipelineBindPoint::COMPUTE, self.pipelines.pattern);
        let groups = PATTERN_SIZE / WORKGROUP;
        // SAFETY: a pipeline with its descriptors is bound.
        unsafe { self.device.raw.cmd_dispatch(self.commands, groups, groups, 1) };
        self.barrier(image, COMPUTED, SAMPLED);
    }

    /// Overwrites a coordinate of a vertex with NaN.
    fn corrupt_vertex(&self) {
        let read = (Stage::VERTEX_ATTRIBUTE_INPUT, Access::VERTEX_ATTRIBUTE_READ);
        let written = (Stage::COPY, Access::TRANSFER_WRITE);
        let offset = (CORRUPT_VERTEX * size_of::<Vertex>()) as u64;
        let bytes = f32::NAN.to_ne_bytes();
        barriers::memory(&self.device.raw, self.commands, read, written);
        // SAFETY: the offset is in the buffer, and a multiple of 4.
        unsafe {
            self.device
                .raw
                .cmd_update_buffer(self.commands, self.scene.vertices.raw, offset, &bytes);
        }
        barriers::memory(&self.device.raw, self.commands, written, read);
    }

    fn begin_rendering(&self) {
        let extent = self.image.extent;
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(self.image.view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue {
                color: vk::ClearColorValue { float32: BACKGROUND },
            })];
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.depth.view)
            .image_layout(vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .clear_value(vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 },
            });
        let area = vk::Rect2D::default().extent(extent);
        let info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&color)
            .depth_attachment(&depth);
        let viewport = vk::Viewport::default()
            .width(extent.width as f32)
            .height(extent.height as f32)
            .max_depth(1.0);
        // SAFETY: the views are of images in these layouts.
        unsafe {
            self.device.raw.cmd_begin_rendering(self.commands, &info);
            self.device.raw.cmd_set_viewport(self.commands, 0, &[viewport]);
            self.device.raw.cmd_set_scissor(self.commands, 0, &[area]);
        }
    }

    fn draw_cube(&self) {
        self.bind(vk::PipelineBindPoint::GRAPHICS, self.pipelines.cube);
        let (device, commands, scene) = (&self.device.raw, self.commands, self.scene);
        // SAFETY: a pipeline with its descriptors is bound, and the indices are those of the vertices.
        unsafe {
            device.cmd_bind_vertex_buffers(commands, 0, &[scene.vertices.raw], &[0]);
            device.cmd_bind_index_buffer(commands, scene.indices.raw, 0, vk::IndexType::UINT16);
            device.cmd_draw_indexed(commands, scene.index_count, 1, 0, 0, 0);
        }
    }

    fn draw_text(&self, glyphs: vk::Buffer) {
        self.bind(vk::PipelineBindPoint::GRAPHICS, self.pipelines.text);
        let count = self.contents.text.glyphs().len() as u32;
        // SAFETY: a pipeline with its descriptors is bound, and the buffer has as many instances.
        unsafe {
            self.device
                .raw
                .cmd_bind_vertex_buffers(self.commands, 0, &[glyphs], &[0]);
            self.device.raw.cmd_draw(self.commands, 4, count, 0, 0);
        }
    }

    fn copy_to(&self, buffer: &Buffer) {
        let region = vk::BufferImageCopy::default()
            .image_subresource(
                vk::ImageSubresourceLayers::default()
                    .aspect_mask(vk::ImageAspectFlags::COLOR)
                    .layer_count(1),
            )
            .image_extent(self.image.extent.into());
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        // SAFETY: the image has this layout, and the buffer room for its pixels.
        unsafe {
            self.device
                .raw
                .cmd_copy_image_to_buffer(self.commands, self.image.image, layout, buffer.raw, &[region]);
        }
        let written = (Stage::COPY, Access::TRANSFER_WRITE);
        barriers::memory(
            &self.device.raw,
            self.commands,
            written,
            (Stage::HOST, Access::HOST_READ),
        );
    }
}
