//! A frame in flight: the objects that the host may use again when the device has finished the frame.

use crate::device::Device;
use crate::resources::Buffer;
use crate::swapchain::TargetImage;
use crate::text::{Glyph, MAX_GLYPHS};
use anyhow::{Context, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::rc::Rc;

/// Command buffer, synchronisation and text of a frame.
pub struct Frame {
    device: Rc<Device>,
    pool: vk::CommandPool,
    /// The command buffer.
    pub commands: vk::CommandBuffer,
    /// Signalled when the device has finished the frame.
    fence: vk::Fence,
    /// Signalled when the swapchain's image may be written.
    pub acquired: vk::Semaphore,
    /// The characters over the cube.
    pub glyphs: Buffer,
}

impl Frame {
    /// Creates a frame that the device is not using.
    pub fn new(device: &Rc<Device>) -> Result<Self> {
        let size = (MAX_GLYPHS * size_of::<Glyph>()) as u64;
        let usage = vk::BufferUsageFlags::VERTEX_BUFFER;
        let mut frame = Self {
            device: device.clone(),
            pool: vk::CommandPool::null(),
            commands: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            acquired: vk::Semaphore::null(),
            glyphs: Buffer::new(device, "text", size, usage, MemoryLocation::CpuToGpu)?,
        };
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(device.gpu.family);
        let fence = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
        // SAFETY: the structures are valid for the calls.
        unsafe {
            frame.pool = device.raw.create_command_pool(&pool, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(frame.pool)
                .command_buffer_count(1);
            let commands = device.raw.allocate_command_buffers(&info)?;
            frame.commands = commands.first().copied().context("no command buffer")?;
            frame.fence = device.raw.create_fence(&fence, None)?;
            frame.acquired = device.raw.create_semaphore(&vk::SemaphoreCreateInfo::default(), None)?;
        }
        Ok(frame)
    }

    /// Waits until the device has finished the frame.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: the fence is of this device.
        Ok(unsafe { self.device.raw.wait_for_fences(&[self.fence], true, u64::MAX) }?)
    }

    /// Starts the command buffer of frame `number`.
    pub fn begin(&self, number: usize) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        self.device.name(self.commands, &format!("frame {number}"));
        // SAFETY: the device has finished the frame.
        unsafe {
            let flags = vk::CommandPoolResetFlags::empty();
            self.device.raw.reset_command_pool(self.pool, flags)?;
            self.device.raw.begin_command_buffer(self.commands, &info)?;
        }
        Ok(())
    }

    /// Ends the command buffer and submits it.
    pub fn submit(&self, image: &TargetImage) -> Result<()> {
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(self.commands)];
        let mut submit = vk::SubmitInfo2::default().command_buffer_infos(&commands);
        let acquired = [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.acquired)
            .stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)];
        let complete = image.present.map(|present| {
            [vk::SemaphoreSubmitInfo::default()
                .semaphore(present.complete)
                .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)]
        });
        if let Some(complete) = &complete {
            submit = submit.wait_semaphore_infos(&acquired).signal_semaphore_infos(complete);
        }
        let device = &self.device;
        // SAFETY: the command buffer is being recorded, and the device uses neither the fence nor the semaphores.
        unsafe {
            device.raw.end_command_buffer(self.commands)?;
            device.raw.reset_fences(&[self.fence])?;
            device.raw.queue_submit2(device.queue, &[submit], self.fence)?;
        }
        Ok(())
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: the renderer has waited for the device, or the device is lost. Destroying a null handle is allowed.
        unsafe {
            device.destroy_semaphore(self.acquired, None);
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
        }
    }
}
