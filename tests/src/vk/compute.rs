//! A compute pipeline over a few buffers, and its submissions.

use super::{Buffer, Device, code};
use anyhow::Result;
use ash::vk;

/// A compute pipeline with its buffers at bindings 0, 1, ..
pub struct Kernel<'device> {
    device: &'device Device<'device>,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    /// The pipeline.
    pub pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

impl<'device> Kernel<'device> {
    /// A pipeline of this SPIR-V.
    ///
    /// # Errors
    ///
    /// A call fails, with the call's name.
    pub fn new(device: &'device Device<'device>, spirv: &[u32], buffers: &[&'device Buffer<'device>]) -> Result<Self> {
        let mut kernel = Self {
            device,
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
        };
        kernel.bind(buffers)?;
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            let module = device
                .raw
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(spirv), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(kernel.layout);
            let made = device
                .raw
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            device.raw.destroy_shader_module(module, None);
            kernel.pipeline = made.map_err(|(_, result)| result)?[0];
        }
        Ok(kernel)
    }

    fn bind(&mut self, buffers: &[&Buffer<'_>]) -> Result<()> {
        let bindings: Vec<_> = buffers
            .iter()
            .zip(0..)
            .map(|(buffer, binding)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(buffer.kind)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let raw = &self.device.raw;
        // SAFETY: the handles belong to this device and the structures are valid.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            self.set_layout = raw.create_descriptor_set_layout(&info, None)?;
            let layouts = [self.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            self.layout = raw.create_pipeline_layout(&info, None)?;
            let sizes: Vec<_> = buffers
                .iter()
                .map(|buffer| vk::DescriptorPoolSize::default().ty(buffer.kind).descriptor_count(1))
                .collect();
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            self.pool = raw.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            self.set = raw.allocate_descriptor_sets(&info)?[0];
            for (buffer, binding) in buffers.iter().zip(0..) {
                let infos = [vk::DescriptorBufferInfo::default()
                    .buffer(buffer.raw)
                    .range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(self.set)
                    .dst_binding(binding)
                    .descriptor_type(buffer.kind)
                    .buffer_info(&infos);
                raw.update_descriptor_sets(&[write], &[]);
            }
        }
        Ok(())
    }

    /// Records a dispatch of that many workgroups.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(&self, groups: u32) -> Result<Submission<'device>> {
        Submission::record(self.device, |raw, commands| {
            let compute = vk::PipelineBindPoint::COMPUTE;
            // SAFETY: the command buffer is being recorded, and the pipeline and its set outlive its use.
            unsafe {
                raw.cmd_bind_pipeline(commands, compute, self.pipeline);
                raw.cmd_bind_descriptor_sets(commands, compute, self.layout, 0, &[self.set], &[]);
                raw.cmd_dispatch(commands, groups, 1, 1);
            }
        })
    }

    /// Dispatches that many workgroups and waits. Returns the submission and the first error, or success.
    ///
    /// # Errors
    ///
    /// The dispatch cannot be recorded.
    pub fn run(&self, groups: u32) -> Result<(Submission<'device>, vk::Result)> {
        let submission = self.record(groups)?;
        let mut result = submission.submit();
        if result == vk::Result::SUCCESS {
            result = submission.wait();
        }
        Ok((submission, result))
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        let raw = &self.device.raw;
        // SAFETY: submissions that use the pipeline are over: the cases wait for them, or the device is lost.
        unsafe {
            raw.destroy_pipeline(self.pipeline, None);
            raw.destroy_descriptor_pool(self.pool, None);
            raw.destroy_pipeline_layout(self.layout, None);
            raw.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// A recorded command buffer with a fence.
pub struct Submission<'device> {
    device: &'device Device<'device>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    /// Signalled when the commands have run.
    pub fence: vk::Fence,
}

impl<'device> Submission<'device> {
    /// Records commands, and after them a barrier that makes their writes visible to the host.
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
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
            submission.pool = raw.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(submission.pool)
                .command_buffer_count(1);
            submission.commands = raw.allocate_command_buffers(&info)?[0];
            raw.begin_command_buffer(submission.commands, &vk::CommandBufferBeginInfo::default())?;
            commands(raw, submission.commands);
            let to_host = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            raw.cmd_pipeline_barrier(
                submission.commands,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &[to_host],
                &[],
                &[],
            );
            raw.end_command_buffer(submission.commands)?;
            submission.fence = raw.create_fence(&vk::FenceCreateInfo::default(), None)?;
        }
        Ok(submission)
    }

    /// `vkQueueSubmit` with the fence.
    pub fn submit(&self) -> vk::Result {
        self.submit_to(self.device.queue)
    }

    /// The same to another queue of the device.
    pub fn submit_to(&self, queue: vk::Queue) -> vk::Result {
        let commands = [self.commands];
        let info = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: the command buffer is recorded and submitted once; the fence is unsignalled.
        code(unsafe { self.device.raw.queue_submit(queue, &[info], self.fence) })
    }

    /// `vkWaitForFences` without a time limit.
    pub fn wait(&self) -> vk::Result {
        // SAFETY: the fence belongs to the device.
        code(unsafe { self.device.raw.wait_for_fences(&[self.fence], true, u64::MAX) })
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
