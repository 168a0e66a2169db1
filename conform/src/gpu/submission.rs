//! Submissions of recorded dispatches, and timeline semaphores.

use super::device::Device;
use crate::verdict::CheckOutput;
use anyhow::Context;
use ash::vk;
use vkabort_test_kit::vk::{self as kit, code};

/// A recorded dispatch with a fence, and with a timestamp after it if the queue supports timestamps.
pub struct Submission {
    device: &'static Device,
    recorded: &'static kit::Submission<'static>,
    timestamp: Option<&'static QueryPool>,
}

/// A pool of one timestamp query.
struct QueryPool(&'static kit::Device<'static>, vk::QueryPool);

impl Drop for QueryPool {
    fn drop(&mut self) {
        // SAFETY: the pool belongs to the live device, and `Device::destroy` requires that no work uses it.
        unsafe { self.0.raw.destroy_query_pool(self.1, None) };
    }
}

impl Submission {
    /// Records a dispatch of `groups` workgroups.
    pub(super) fn record(device: &'static Device, kernel: &kit::Kernel<'_>, groups: u32) -> CheckOutput<Self> {
        let timestamp = if device.gpu.timestamp_bits > 0 {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(1);
            // SAFETY: the structure is valid for the call.
            let pool = unsafe { device.kit.raw.create_query_pool(&info, None) }.context("vkCreateQueryPool")?;
            Some(device.owner.own(QueryPool(device.kit, pool)))
        } else {
            None
        };
        let recorded = kit::Submission::record(device.kit, |raw, commands| {
            // SAFETY: the command buffer is being recorded, and the pool lives as long as the device.
            unsafe {
                if let Some(pool) = timestamp {
                    raw.cmd_reset_query_pool(commands, pool.1, 0, 1);
                }
                kernel.dispatch(raw, commands, groups);
                if let Some(pool) = timestamp {
                    raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool.1, 0);
                }
                // Orders later submissions after this one.
                let barrier = vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
                    .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE);
                let before = vk::PipelineStageFlags::ALL_COMMANDS;
                let after = vk::PipelineStageFlags::COMPUTE_SHADER;
                let flags = vk::DependencyFlags::empty();
                raw.cmd_pipeline_barrier(commands, before, after, flags, &[barrier], &[], &[]);
            }
        })?;
        Ok(Self {
            device,
            recorded: device.owner.own(recorded),
            timestamp,
        })
    }

    /// `vkQueueSubmit` with the fence. Allowed once.
    pub fn submit(&self) -> vk::Result {
        self.recorded.submit()
    }

    /// `vkQueueSubmit` with the fence, signalling 1 on a timeline.
    pub fn submit_with(&self, timeline: &Timeline) -> vk::Result {
        let commands = [self.recorded.commands];
        let semaphores = [timeline.raw];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&[1]);
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut values);
        let device = self.device.kit;
        // SAFETY: `info` names an executable command buffer of this device; one thread uses the queue.
        code(unsafe { device.raw.queue_submit(device.queue, &[info], self.recorded.fence) })
    }

    /// `vkWaitForFences` without a time limit.
    pub fn wait(&self) -> vk::Result {
        self.recorded.wait()
    }

    /// `vkGetFenceStatus`
    pub fn status(&self) -> vk::Result {
        // SAFETY: the fence belongs to the device.
        match unsafe { self.device.kit.raw.get_fence_status(self.recorded.fence) } {
            Ok(true) => vk::Result::SUCCESS,
            Ok(false) => vk::Result::NOT_READY,
            Err(error) => error,
        }
    }

    /// `vkGetQueryPoolResults` with `VK_QUERY_RESULT_WAIT_BIT`; `None` if the queue has no timestamps.
    pub fn wait_for_timestamp(&self) -> Option<vk::Result> {
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let raw = &self.device.kit.raw;
        // SAFETY: the pool belongs to the device and has one query.
        self.timestamp
            .map(|pool| code(unsafe { raw.get_query_pool_results(pool.1, 0, &mut [0u64], flags) }))
    }
}

/// A timeline semaphore. Never destroyed.
pub struct Timeline {
    device: &'static kit::Device<'static>,
    raw: vk::Semaphore,
}

impl Timeline {
    /// Creates a semaphore with value 0.
    pub fn new(device: &Device) -> CheckOutput<Self> {
        let device = device.kit;
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the structures are valid, and the feature is enabled.
        let raw = unsafe { device.raw.create_semaphore(&info, None) }.context("vkCreateSemaphore")?;
        Ok(Self { device, raw })
    }

    /// `vkWaitSemaphores` for 1 without a time limit.
    pub fn wait(&self) -> vk::Result {
        let semaphores = [self.raw];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { self.device.raw.wait_semaphores(&info, u64::MAX) })
    }

    /// `vkGetSemaphoreCounterValue`
    pub fn value(&self) -> vk::Result {
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { self.device.raw.get_semaphore_counter_value(self.raw) })
    }
}
