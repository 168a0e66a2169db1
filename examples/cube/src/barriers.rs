//! Barriers between the uses of an image or buffer.

use crate::resources::whole;
use ash::vk;

/// A use of an image: its layout, and the stages and accesses.
#[derive(Clone, Copy)]
pub struct Use {
    layout: vk::ImageLayout,
    stage: vk::PipelineStageFlags2,
    access: vk::AccessFlags2,
}

impl Use {
    const fn new(layout: vk::ImageLayout, stage: vk::PipelineStageFlags2, access: vk::AccessFlags2) -> Self {
        Self { layout, stage, access }
    }

    /// A use after which the contents are not needed any more.
    pub const fn discarded(self) -> Self {
        Self::new(vk::ImageLayout::UNDEFINED, self.stage, self.access)
    }

    /// Presented, or not used any more, in this layout.
    pub const fn end(layout: vk::ImageLayout) -> Self {
        Self::new(layout, vk::PipelineStageFlags2::NONE, vk::AccessFlags2::NONE)
    }
}

/// Written as a colour attachment.
pub const COLOR: Use = Use::new(
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    // Blending reads it.
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::COLOR_ATTACHMENT_READ.as_raw() | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE.as_raw(),
    ),
);
/// Written and read as a depth buffer.
pub const DEPTH: Use = Use::new(
    vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL,
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw() | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
    ),
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
            | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
    ),
);
/// Written by a compute shader.
pub const COMPUTED: Use = Use::new(
    vk::ImageLayout::GENERAL,
    vk::PipelineStageFlags2::COMPUTE_SHADER,
    vk::AccessFlags2::SHADER_STORAGE_WRITE,
);
/// Sampled by a fragment shader.
pub const SAMPLED: Use = Use::new(
    vk::ImageLayout::GENERAL,
    vk::PipelineStageFlags2::FRAGMENT_SHADER,
    vk::AccessFlags2::SHADER_SAMPLED_READ,
);
/// Copied to a buffer.
pub const COPIED: Use = Use::new(
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::PipelineStageFlags2::COPY,
    vk::AccessFlags2::TRANSFER_READ,
);

/// Lets one use of an image follow another.
pub fn image(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    aspect: vk::ImageAspectFlags,
    before: Use,
    after: Use,
) {
    let barriers = [vk::ImageMemoryBarrier2::default()
        .src_stage_mask(before.stage)
        .src_access_mask(before.access)
        .dst_stage_mask(after.stage)
        .dst_access_mask(after.access)
        .old_layout(before.layout)
        .new_layout(after.layout)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(whole(aspect))];
    let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
    // SAFETY: the command buffer is being recorded, and the image is of its device.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}

/// Lets a stage and access of all buffers follow another.
pub fn memory(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    before: (vk::PipelineStageFlags2, vk::AccessFlags2),
    after: (vk::PipelineStageFlags2, vk::AccessFlags2),
) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(before.0)
        .src_access_mask(before.1)
        .dst_stage_mask(after.0)
        .dst_access_mask(after.1)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the command buffer is being recorded.
    unsafe { device.cmd_pipeline_barrier2(commands, &info) };
}
