//! Timestamps behind a dispatch, and timeline semaphores. The [`OwnedDevice`] destroys them.

use crate::{Device, LeakedKernel, LeakedSubmission, OwnedDevice, Submission, code};
use anyhow::{Context, Result};
use ash::vk;

/// A pool of one timestamp query.
pub struct Timestamp(&'static Device<'static>, vk::QueryPool);

impl Drop for Timestamp {
    fn drop(&mut self) {
        // SAFETY: the pool belongs to the live device, and the owner is destroyed when no work uses it.
        unsafe { self.0.raw.destroy_query_pool(self.1, None) };
    }
}

impl Timestamp {
    /// Records a dispatch of `groups` workgroups and a timestamp after it.
    ///
    /// # Errors
    ///
    /// A call fails.
    pub fn record(
        device: &OwnedDevice,
        kernel: LeakedKernel,
        groups: u32,
    ) -> Result<(LeakedSubmission, &'static Self)> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(1);
        // SAFETY: the structure is valid for the call.
        let pool = unsafe { device.raw.create_query_pool(&info, None) }.context("vkCreateQueryPool")?;
        let timestamp = device.owner.own(Self(device.raw_device(), pool));
        let recorded = Submission::record(device.raw_device(), |raw, commands| {
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

/// A timeline semaphore.
pub struct Timeline(&'static Device<'static>, vk::Semaphore);

impl Drop for Timeline {
    fn drop(&mut self) {
        // SAFETY: the semaphore belongs to the live device, and the owner is destroyed when no work uses it.
        unsafe { self.0.raw.destroy_semaphore(self.1, None) };
    }
}

impl Timeline {
    /// Creates a semaphore with value 0.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn new(device: &OwnedDevice) -> Result<&'static Self> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the structures are valid, and the feature is enabled.
        let raw = unsafe { device.raw.create_semaphore(&info, None) }.context("vkCreateSemaphore")?;
        Ok(device.owner.own(Self(device.raw_device(), raw)))
    }

    /// `vkQueueSubmit` with the fence, signalling 1 on the timeline.
    pub fn submit(&self, submission: LeakedSubmission) -> vk::Result {
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
