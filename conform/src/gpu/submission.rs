//! Timestamps behind a dispatch, and timeline semaphores. The owner of a device destroys them.

use super::device::{Device, Kernel, Submission};
use crate::verdict::CheckOutput;
use anyhow::Context;
use ash::vk;
use vkabort_test_kit::vk::{self as kit, code};

/// A pool of one timestamp query.
pub struct Timestamp(&'static kit::Device<'static>, vk::QueryPool);

impl Drop for Timestamp {
    fn drop(&mut self) {
        // SAFETY: the pool belongs to the live device, and `Device::destroy` requires that no work uses it.
        unsafe { self.0.raw.destroy_query_pool(self.1, None) };
    }
}

impl Timestamp {
    /// Records a dispatch of `groups` workgroups and a timestamp after it.
    pub fn record(device: &Device, kernel: Kernel, groups: u32) -> CheckOutput<(Submission, &'static Self)> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(1);
        // SAFETY: the structure is valid for the call.
        let pool = unsafe { device.raw.create_query_pool(&info, None) }.context("vkCreateQueryPool")?;
        let timestamp = device.owner.own(Self(device.kit, pool));
        let recorded = kit::Submission::record(device.kit, |raw, commands| {
            // SAFETY: the command buffer is being recorded, and the pool lives as long as the device.
            unsafe {
                raw.cmd_reset_query_pool(commands, pool, 0, 1);
                kernel.dispatch(raw, commands, groups);
                raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            }
        })?;
        Ok((device.owner.own(recorded), timestamp))
    }

    /// `vkGetQueryPoolResults` with `VK_QUERY_RESULT_WAIT_BIT`.
    pub fn wait(&self) -> vk::Result {
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the pool belongs to the device and has one query.
        code(unsafe { self.0.raw.get_query_pool_results(self.1, 0, &mut [0u64], flags) })
    }
}

/// A timeline semaphore. Never destroyed.
pub struct Timeline(&'static kit::Device<'static>, vk::Semaphore);

impl Timeline {
    /// Creates a semaphore with value 0.
    pub fn new(device: &Device) -> CheckOutput<Self> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the structures are valid, and the feature is enabled.
        let raw = unsafe { device.raw.create_semaphore(&info, None) }.context("vkCreateSemaphore")?;
        Ok(Self(device.kit, raw))
    }

    /// `vkQueueSubmit` with the fence, signalling 1 on the timeline.
    pub fn submit(&self, submission: Submission) -> vk::Result {
        let semaphores = [self.1];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&[1]);
        let info = vk::SubmitInfo::default().signal_semaphores(&semaphores);
        submission.submit_info(self.0.queue, info.push_next(&mut values))
    }

    /// `vkWaitSemaphores` for 1 without a time limit.
    pub fn wait(&self) -> vk::Result {
        let semaphores = [self.1];
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&[1]);
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { self.0.raw.wait_semaphores(&info, u64::MAX) })
    }

    /// `vkGetSemaphoreCounterValue`
    pub fn value(&self) -> vk::Result {
        // SAFETY: the semaphore belongs to the device.
        code(unsafe { self.0.raw.get_semaphore_counter_value(self.1) })
    }
}
