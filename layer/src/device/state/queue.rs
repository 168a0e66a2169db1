//! Queues, and the fences by which the layer waits for them.

use super::queue_labels::QueueLabels;
use super::submit_counters::SubmitCounters;
use crate::loader::dispatch::DeviceTable;
use crate::locks::lock;
use crate::sync::{Mutex, OnceLock};
use ash::vk;
use std::ptr;

/// A queue.
pub struct Queue {
    /// Its handle.
    pub handle: vk::Queue,
    /// Fence that a drain submits behind all work. Null if it could not be created, or if the device is never drained.
    pub drain_fence: vk::Fence,
    /// Held around every forwarded queue operation, so that a drain may submit from another thread. Access to a queue is
    /// externally synchronised anyway, so the lock is contended only during a drain.
    pub work: Mutex<QueueWork>,
    /// Submissions with command buffers.
    pub counters: SubmitCounters,
    /// Labels of those submissions.
    pub labels: QueueLabels,
    /// Set when the application gets the queue's handle.
    pub location: OnceLock<QueueLocation>,
}

/// Family and index of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueLocation {
    /// Queue family index.
    pub family: u32,
    /// Index among the device's queues of the family.
    pub index: u32,
}

/// Operations of a queue that a drain waits for.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueWork {
    /// Operations forwarded so far.
    pub submitted: u64,
    /// Operations before the last submission of the drain fence.
    pub fenced: u64,
    /// The drain fence was submitted and has not been seen signalled.
    pub fence_pending: bool,
}

impl QueueWork {
    /// The drain fence has signalled behind everything that was submitted.
    pub fn is_idle(&self) -> bool {
        !self.fence_pending && self.submitted == self.fenced
    }
}

impl Queue {
    /// The state of a queue on its first use.
    pub fn new(handle: vk::Queue, drain_fence: vk::Fence) -> Self {
        Self {
            handle,
            drain_fence,
            work: Mutex::default(),
            counters: SubmitCounters::default(),
            labels: QueueLabels::default(),
            location: OnceLock::new(),
        }
    }
}

/// Reusable fences for the layer's own waits.
#[derive(Default)]
pub struct FencePool {
    free: Mutex<Vec<vk::Fence>>,
    /// Fences that may still be pending.
    abandoned: Mutex<Vec<vk::Fence>>,
}

impl FencePool {
    /// Takes an unsignalled fence. `None`: the driver could not create one.
    pub fn take(&self, device: vk::Device, next: &DeviceTable) -> Option<vk::Fence> {
        let free = lock(&self.free).pop();
        free.or_else(|| create_fence(device, next))
    }

    /// Returns a fence that is not pending.
    pub fn put_back(&self, device: vk::Device, next: &DeviceTable, fence: vk::Fence) {
        let reset = next
            .vkResetFences
            // SAFETY: the fence was created by this layer on this device and is not pending.
            .map_or(vk::Result::ERROR_UNKNOWN, |f| unsafe { f(device, 1, &fence) });
        let list = match reset {
            vk::Result::SUCCESS => &self.free,
            _ => &self.abandoned,
        };
        lock(list).push(fence);
    }

    /// Returns a fence that may still be pending. It is never reused.
    pub fn abandon(&self, fence: vk::Fence) {
        lock(&self.abandoned).push(fence);
    }

    /// Removes all fences, for destruction.
    pub fn drain(&self) -> Vec<vk::Fence> {
        let mut all = std::mem::take(&mut *lock(&self.free));
        all.append(&mut lock(&self.abandoned));
        all
    }
}

/// Creates an unsignalled fence through the next layer.
pub fn create_fence(device: vk::Device, next: &DeviceTable) -> Option<vk::Fence> {
    let mut fence = vk::Fence::null();
    let info = vk::FenceCreateInfo::default();
    // SAFETY: the device is valid, and the create info and the handle are locals that outlive the call.
    let result = unsafe { (next.vkCreateFence?)(device, &info, ptr::null(), &mut fence) };
    (result == vk::Result::SUCCESS).then_some(fence)
}
