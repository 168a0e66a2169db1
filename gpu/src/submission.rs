//! A recorded command buffer, and its submissions.

use crate::{Device, code};
use anyhow::{Context, Result};
use ash::vk;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

static COMPILE_ONLY: AtomicBool = AtomicBool::new(false);

/// Payload of the unwinding that ends a case at its first submission.
pub struct Compiled;

/// From now on submissions unwind with [`Compiled`]: the device compiles, but does not execute.
pub fn compile_only() {
    COMPILE_ONLY.store(true, Ordering::Relaxed);
}

/// A recorded command buffer with a fence.
pub struct Submission<'device> {
    device: &'device Device<'device>,
    pool: vk::CommandPool,
    /// The commands.
    pub commands: vk::CommandBuffer,
    /// Signalled when the commands have run.
    pub fence: vk::Fence,
}

impl<'device> Submission<'device> {
    /// Records commands, then a barrier that makes their writes visible to the host and to later compute shaders.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(
        device: &'device Device<'device>,
        commands: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<Self> {
        let mut submission = Self {
            device,
            pool: vk::CommandPool::null(),
            commands: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
        };
        let raw = &device.raw;
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(device.family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            submission.pool = raw.create_command_pool(&info, None).context("vkCreateCommandPool")?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(submission.pool)
                .command_buffer_count(1);
            submission.commands = raw
                .allocate_command_buffers(&info)
                .context("vkAllocateCommandBuffers")?[0];
            raw.begin_command_buffer(submission.commands, &vk::CommandBufferBeginInfo::default())
                .context("vkBeginCommandBuffer")?;
            commands(raw, submission.commands);
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .dst_access_mask(
                    vk::AccessFlags::HOST_READ | vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE,
                );
            raw.cmd_pipeline_barrier(
                submission.commands,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::PipelineStageFlags::HOST | vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::DependencyFlags::empty(),
                &[barrier],
                &[],
                &[],
            );
            raw.end_command_buffer(submission.commands)
                .context("vkEndCommandBuffer")?;
            submission.fence = raw
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .context("vkCreateFence")?;
        }
        Ok(submission)
    }

    /// `vkQueueSubmit` with the fence.
    pub fn submit(&self) -> vk::Result {
        self.submit_to(self.device.queue)
    }

    /// `vkQueueSubmit` to another queue of the device, with the fence.
    pub fn submit_to(&self, queue: vk::Queue) -> vk::Result {
        self.submit_info(queue, vk::SubmitInfo::default())
    }

    /// `vkQueueSubmit` of the commands in `info`, with the fence.
    ///
    /// # Panics
    ///
    /// Unwinds with [`Compiled`] after [`compile_only`].
    pub fn submit_info(&self, queue: vk::Queue, info: vk::SubmitInfo<'_>) -> vk::Result {
        if COMPILE_ONLY.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Compiled));
        }
        let commands = [self.commands];
        let info = info.command_buffers(&commands);
        // SAFETY: the command buffer is recorded and submitted once; the fence is unsignalled.
        code(unsafe { self.device.raw.queue_submit(queue, &[info], self.fence) })
    }

    /// Submits and waits. Returns the first error, or success.
    pub fn run(&self) -> vk::Result {
        match self.submit() {
            vk::Result::SUCCESS => self.wait(),
            error => error,
        }
    }

    /// `vkWaitForFences` without a time limit.
    pub fn wait(&self) -> vk::Result {
        // SAFETY: the fence belongs to the device.
        code(unsafe { self.device.raw.wait_for_fences(&[self.fence], true, u64::MAX) })
    }

    /// `vkGetFenceStatus`
    pub fn status(&self) -> vk::Result {
        // SAFETY: the fence belongs to the device.
        match unsafe { self.device.raw.get_fence_status(self.fence) } {
            Ok(false) => vk::Result::NOT_READY,
            other => code(other),
        }
    }
}

impl Drop for Submission<'_> {
    fn drop(&mut self) {
        // SAFETY: the cases wait for their submissions, or the device is lost.
        unsafe {
            self.device.raw.destroy_fence(self.fence, None);
            self.device.raw.destroy_command_pool(self.pool, None);
        }
    }
}
