//! A driver, and a GPU that executes work on the thread that makes it ready: the one that submits it, or on which the work
//! that it waits for ends.
//!
//! Its own state is not made of loom's primitives, so that it orders no accesses of the layer. Only fences do.

use crate::arena::Arena;
use crate::loader::dispatch::DeviceTable;
use crate::sync::{AtomicBool, Ordering, sleep};
use ash::vk::{self, Handle};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{ptr, slice};

/// Queues of the device.
pub const QUEUES: usize = 2;

/// Work of a queue.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// A shader with this number aborts.
    Abort(u32),
    /// Waits for [`Work::Release`].
    Wait,
    /// Lets all queues go on.
    Release,
    /// Signals a fence.
    Signal(vk::Fence),
}

/// A driver with one device.
pub struct Driver {
    arena: Arena,
    state: Mutex<State>,
    /// The drain fences of the queues.
    signalled: [AtomicBool; QUEUES],
}

#[derive(Default)]
struct State {
    queues: [Timeline; QUEUES],
    released: bool,
    lost: bool,
    fences: u64,
}

#[derive(Default)]
struct Timeline {
    work: VecDeque<Work>,
    executing: bool,
}

impl Driver {
    /// A driver whose shaders abort into `arena`.
    pub fn new(arena: Arena) -> Self {
        Self {
            arena,
            state: Mutex::default(),
            signalled: std::array::from_fn(|_| AtomicBool::new(false)),
        }
    }

    /// Makes this the driver of the thread that runs the model. Returns the handle of its device.
    pub fn select(&self) -> vk::Device {
        CURRENT.set(self);
        vk::Device::from_raw(16)
    }

    /// The functions of the driver.
    pub fn table() -> DeviceTable {
        DeviceTable {
            vkCreateFence: Some(create_fence),
            vkDeviceWaitIdle: None,
            vkGetFenceStatus: Some(fence_status),
            vkQueueSubmit: Some(queue_submit),
            vkResetFences: Some(reset_fences),
            vkWaitForFences: Some(wait_for_fences),
        }
    }

    /// The handle of a queue. Not an address, so that the slot in the layer's map is the same in every run.
    pub fn queue(index: usize) -> vk::Queue {
        vk::Queue::from_raw(16 * (index as u64 + 1))
    }

    /// Submits work.
    pub fn submit(&self, queue: usize, work: &[Work]) -> vk::Result {
        let mut state = self.state();
        if state.lost {
            return vk::Result::ERROR_DEVICE_LOST;
        }
        state.queues[queue].work.extend(work);
        drop(state);
        self.execute();
        vk::Result::SUCCESS
    }

    /// Loses the device, as after a fault. Its work ends.
    pub fn lose(&self) {
        self.state().lost = true;
    }

    /// The work that has not ended.
    pub fn unfinished(&self) -> usize {
        let state = self.state();
        let unfinished = |queue: &Timeline| queue.work.len() + usize::from(queue.executing);
        state.queues.iter().map(unfinished).sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes work that is ready until there is none.
    fn execute(&self) {
        while let Some((queue, work)) = self.next() {
            match work {
                Work::Abort(number) => self.arena.abort(number),
                Work::Signal(fence) => self.fence(fence).store(true, Ordering::Release),
                Work::Release => self.state().released = true,
                Work::Wait => {}
            }
            self.state().queues[queue].executing = false;
        }
    }

    fn next(&self) -> Option<(usize, Work)> {
        let mut state = self.state();
        let State { queues, released, .. } = &mut *state;
        for (index, queue) in queues.iter_mut().enumerate() {
            let is_blocked = matches!(queue.work.front(), Some(Work::Wait)) && !*released;
            if !queue.executing
                && !is_blocked
                && let Some(work) = queue.work.pop_front()
            {
                queue.executing = true;
                return Some((index, work));
            }
        }
        None
    }

    fn fence(&self, fence: vk::Fence) -> &AtomicBool {
        &self.signalled[fence.as_raw() as usize - 1]
    }

    fn status(&self, fence: vk::Fence) -> vk::Result {
        if self.state().lost {
            vk::Result::ERROR_DEVICE_LOST
        } else if self.fence(fence).load(Ordering::Acquire) {
            vk::Result::SUCCESS
        } else {
            vk::Result::NOT_READY
        }
    }
}

thread_local! {
    /// The driver of the model that runs: all threads of a model are coroutines of one thread.
    static CURRENT: Cell<*const Driver> = const { Cell::new(ptr::null()) };
}

/// The driver of the model that runs.
///
/// # Safety
/// It must be alive.
unsafe fn current<'a>() -> &'a Driver {
    // SAFETY: the caller's contract.
    unsafe { &*CURRENT.get() }
}

unsafe extern "system" fn create_fence(
    _: vk::Device,
    _: *const vk::FenceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    fence: *mut vk::Fence,
) -> vk::Result {
    // SAFETY: the model's driver is alive, and the layer passes the address of a handle.
    let (driver, fence) = unsafe { (current(), &mut *fence) };
    let mut state = driver.state();
    state.fences += 1;
    *fence = vk::Fence::from_raw(state.fences);
    vk::Result::SUCCESS
}

unsafe extern "system" fn fence_status(_: vk::Device, fence: vk::Fence) -> vk::Result {
    // SAFETY: the model's driver is alive.
    unsafe { current() }.status(fence)
}

unsafe extern "system" fn reset_fences(_: vk::Device, _: u32, fences: *const vk::Fence) -> vk::Result {
    // SAFETY: the model's driver is alive, and the layer passes one fence.
    let (driver, fence) = unsafe { (current(), *fences) };
    driver.fence(fence).store(false, Ordering::Release);
    vk::Result::SUCCESS
}

unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    _: u32,
    _: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let index = queue.as_raw() as usize / 16 - 1;
    // SAFETY: the model's driver is alive.
    unsafe { current() }.submit(index, &[Work::Signal(fence)])
}

unsafe extern "system" fn wait_for_fences(
    _: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    _: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    // SAFETY: the model's driver is alive, and the layer passes an array of fences.
    let (driver, fences) = unsafe { (current(), slice::from_raw_parts(fences, count as usize)) };
    let ready = || {
        fences
            .iter()
            .map(|fence| driver.status(*fence))
            .find(|status| *status != vk::Result::NOT_READY)
    };
    ready().unwrap_or_else(|| {
        sleep(Duration::from_nanos(timeout));
        ready().unwrap_or(vk::Result::TIMEOUT)
    })
}
