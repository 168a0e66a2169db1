//! Submissions of recorded dispatches, and timeline semaphores.

use super::device::{Device, Owned};
use super::result::{Named, code};
use crate::verdict::CheckOutput;
use ash::vk;

/// A recorded dispatch with a fence, and with a timestamp after it if the queue supports timestamps.
pub struct Submission {
    pub(super) device: &'static Device,
    pub(super) commands: vk::CommandBuffer,
    pub(super) fence: vk::Fence,
    pub(super) queries: vk::QueryPool,
}

impl Submission {
    /// `vkQueueSubmit` with the fence. Allowed once.
    pub fn submit(&self) -> vk::Result {
        let commands = [self.commands];
        self.device
            .submit(&vk::SubmitInfo::default().command_buffers(&commands), self.fence)
    }

    /// `vkQueueSubmit` with the fence, signalling 1 on a timeline.
    pub fn submit_with(&self, timeline: Timeline) -> vk::Result {
        let commands = [self.commands];
        let semaphores = [timeline.raw];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&[1]);
        let info = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(&semaphores)
            .push_next(&mut values);
        self.device.submit(&info, self.fence)
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
            Ok(true) => vk::Result::SUCCESS,
            Ok(false) => vk::Result::NOT_READY,
            Err(error) => error,
        }
    }

    /// `vkGetQueryPoolResults` with `VK_QUERY_RESULT_WAIT_BIT`; `None` if the queue has no timestamps.
    pub fn wait_for_timestamp(&self) -> Option<vk::Result> {
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        let mut data = [0u64];
        (self.queries != vk::QueryPool::null()).then(|| {
            // SAFETY: the pool belongs to the device and has one query.
            code(unsafe {
                self.device
                    .raw
                    .get_query_pool_results(self.queries, 0, &mut data, flags)
            })
        })
    }
}

/// A timeline semaphore.
#[derive(Clone, Copy)]
pub struct Timeline {
    device: &'static Device,
    raw: vk::Semaphore,
}

impl Timeline {
    /// Creates a semaphore with value 0.
    pub fn new(device: &'static Device) -> CheckOutput<Self> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the structures are valid, and the feature is enabled.
        let raw = unsafe { device.raw.create_semaphore(&info, None) }.named("vkCreateSemaphore")?;
        device.own(Owned::Semaphore(raw));
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
        code(unsafe { self.device.raw.get_semaphore_counter_value(self.raw) }.map(|_| ()))
    }
}
