//! Queues, and the fences with which the layer watches them.

use crate::device::state::submit_counters::SubmitCounters;
use crate::loader::dispatch::DeviceTable;
use crate::locks::lock;
use ash::vk;
use std::ptr;
use std::sync::{Mutex, OnceLock};

/// A queue.
pub struct Queue {
    /// Its handle.
    pub handle: vk::Queue,
    /// Signalled behind everything that was submitted before a drain began. Null if it could not be made, or if the device
    /// is never drained.
    pub mark: vk::Fence,
    /// Held around every forwarded queue operation, so that a drain may submit from another thread. The application
    /// has to serialise the queue anyway: there is no contention without a drain.
    pub work: Mutex<Work>,
    /// For finding the queue of an abort.
    pub counters: SubmitCounters,
    /// Where it comes from, once the application has asked for it.
    pub place: OnceLock<Place>,
}

/// Where a queue comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its family.
    pub family: u32,
    /// Its index among the device's queues of that family.
    pub index: u32,
}

/// What was submitted to a queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Operations forwarded so far.
    pub submitted: u64,
    /// `submitted` when the mark was last submitted.
    pub marked: u64,
    /// The mark is submitted and was not seen signalled yet.
    pub pending: bool,
}

impl Work {
    /// Everything submitted has completed, as far as the marks tell.
    pub fn idle(&self) -> bool {
        !self.pending && self.submitted == self.marked
    }
}

/// Fences for waits of the layer's own, used again.
#[derive(Default)]
pub struct FencePool {
    free: Mutex<Vec<vk::Fence>>,
    /// Still submitted when their wait was given up.
    abandoned: Mutex<Vec<vk::Fence>>,
}

impl FencePool {
    /// An unsignalled fence.
    pub fn take(&self, device: vk::Device, next: &DeviceTable) -> Option<vk::Fence> {
        if let Some(fence) = lock(&self.free).pop() {
            return Some(fence);
        }
        create_fence(device, next)
    }

    /// Puts a signalled fence back.
    pub fn put_back(&self, device: vk::Device, next: &DeviceTable, fence: vk::Fence) {
        let reset = next
            .vkResetFences
            // SAFETY: the fence is ours, and no longer in use since it is signalled.
            .map_or(vk::Result::ERROR_UNKNOWN, |f| unsafe { f(device, 1, &fence) });
        let list = if reset == vk::Result::SUCCESS {
            &self.free
        } else {
            &self.abandoned
        };
        lock(list).push(fence);
    }

    /// Puts away a fence that may still be in use.
    pub fn abandon(&self, fence: vk::Fence) {
        lock(&self.abandoned).push(fence);
    }

    /// Takes all fences out, to destroy them.
    pub fn drain(&self) -> Vec<vk::Fence> {
        let mut all = std::mem::take(&mut *lock(&self.free));
        all.append(&mut lock(&self.abandoned));
        all
    }
}

/// Makes an unsignalled fence through the next layer.
pub fn create_fence(device: vk::Device, next: &DeviceTable) -> Option<vk::Fence> {
    let mut fence = vk::Fence::null();
    let info = vk::FenceCreateInfo::default();
    // SAFETY: the device is valid; the structure and the handle are ours.
    let made = next
        .vkCreateFence
        .map(|f| unsafe { f(device, &info, ptr::null(), &mut fence) });
    (made == Some(vk::Result::SUCCESS)).then_some(fence)
}

impl Queue {
    /// A queue that was just seen for the first time.
    pub fn new(handle: vk::Queue, mark: vk::Fence) -> Self {
        Self {
            handle,
            mark,
            work: Mutex::new(Work::default()),
            counters: SubmitCounters::default(),
            place: OnceLock::new(),
        }
    }
}
