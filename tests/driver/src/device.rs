//! `VkDevice` and its queues.

use crate::addresses::Addresses;
use crate::fault::Faults;
use crate::handle::{self, LOADER_MAGIC};
use crate::memory;
use crate::physical;
use crate::queue::Queue;
use crate::seen;
use crate::settings::{Refused, Settings};
use ash::vk::{self, Handle, TaggedStructure};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Calls of each kind that may be refused, over the whole process.
static CALLS: [AtomicU64; 6] = [const { AtomicU64::new(0) }; 6];
/// Waits, over the whole process.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// A device.
#[repr(C)]
pub struct Device {
    loader: usize,
    /// What it does.
    pub settings: Arc<Settings>,
    /// `deviceCoherentMemory` is on.
    pub device_coherent: bool,
    /// What changes. Everything that executes does so under its lock.
    pub state: Mutex<State>,
    /// Something was signalled, lost or is to end.
    pub changed: Condvar,
    /// Queues by family and index, made on first use.
    queues: Mutex<HashMap<(u32, u32), u64>>,
}

/// What changes on a device.
#[derive(Default)]
pub struct State {
    /// The device is lost.
    pub lost: bool,
    /// The device is being destroyed: threads end.
    pub ending: bool,
    /// Where buffers are.
    pub addresses: Addresses,
    /// What there is to say of the loss.
    pub faults: Faults,
    /// Memory of the GPU's own, by handle.
    pub local_memory: Vec<u64>,
}

impl Device {
    /// The device's changing part.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the settings refuse this call.
    pub fn refuses(&self, what: Refused) -> bool {
        refuses(&self.settings, what)
    }

    /// Loses the device.
    pub fn lose(&self, state: &mut State) {
        if let Some(with) = self.settings.lost_memory.filter(|_| !state.lost) {
            for memory in &state.local_memory {
                // SAFETY: what is freed is taken out of the list first.
                unsafe { memory::lose(*memory, with) };
            }
        }
        state.lost = true;
        self.changed.notify_all();
    }

    /// The device is lost, and fences and submissions tell of it.
    pub fn shows_loss(&self, state: &State) -> bool {
        state.lost && !self.settings.quiet_loss
    }

    /// `VK_ERROR_DEVICE_LOST` or success.
    pub fn status(&self) -> vk::Result {
        match self.shows_loss(&self.lock()) {
            true => vk::Result::ERROR_DEVICE_LOST,
            false => vk::Result::SUCCESS,
        }
    }

    /// Waits up to `timeout` nanoseconds until `done`.
    pub fn wait(&self, timeout: u64, done: impl Fn() -> bool) -> vk::Result {
        let number = WAITS.fetch_add(1, Ordering::Relaxed) + 1;
        let deadline = Instant::now().checked_add(Duration::from_nanos(timeout));
        let mut state = self.lock();
        if self.settings.lose_wait.is(number) {
            self.lose(&mut state);
        }
        loop {
            if self.shows_loss(&state) {
                return vk::Result::ERROR_DEVICE_LOST;
            }
            if done() {
                return vk::Result::SUCCESS;
            }
            state = match deadline.filter(|_| timeout != u64::MAX) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return vk::Result::TIMEOUT;
                    }
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Waits until the queue, or every queue, is idle.
    pub fn wait_for_queues(&self, only: Option<&Queue>) -> vk::Result {
        let queues: Vec<u64> = self.queues().values().copied().collect();
        self.wait(u64::MAX, || {
            // SAFETY: queues live as long as the device.
            let mut all = queues
                .iter()
                .filter_map(|queue| unsafe { handle::get::<Queue>(*queue) });
            match only {
                Some(queue) => queue.is_idle(),
                None => all.all(Queue::is_idle),
            }
        })
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<(u32, u32), u64>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refuses(settings: &Settings, what: Refused) -> bool {
    let Some(calls) = CALLS.get(what as usize) else {
        return false;
    };
    let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
    settings
        .refuse
        .iter()
        .any(|(which, nth)| *which == what && nth.is(number))
}

/// The device behind a handle.
///
/// # Safety
/// The handle must be valid.
pub unsafe fn known<'a>(device: vk::Device) -> &'a Device {
    // SAFETY: the caller vouches for the handle.
    unsafe { handle::get(device.as_raw()) }.expect("a device")
}

pub unsafe extern "system" fn create(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let physical = physical::known(physical);
        seen::device_created(&*info);
        if refuses(&physical.settings, Refused::Device) {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        }
        let mut device_coherent = false;
        let mut node = (*info).p_next.cast::<vk::BaseInStructure<'_>>();
        while let Some(base) = node.as_ref() {
            if base.s_type == vk::PhysicalDeviceCoherentMemoryFeaturesAMD::STRUCTURE_TYPE {
                let features = &*node.cast::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>();
                device_coherent = features.device_coherent_memory == vk::TRUE;
            }
            node = base.p_next;
        }
        let made = handle::make(Device {
            loader: LOADER_MAGIC,
            device_coherent,
            settings: Arc::clone(&physical.settings),
            state: Mutex::default(),
            changed: Condvar::new(),
            queues: Mutex::default(),
        });
        device.write(vk::Device::from_raw(made));
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy(device: vk::Device, _: *const vk::AllocationCallbacks<'_>) {
    if device.is_null() {
        return;
    }
    // SAFETY: the application's last use of the device and its queues; their threads are joined first.
    unsafe {
        let known = known(device);
        known.lock().ending = true;
        known.changed.notify_all();
        let queues = std::mem::take(&mut *known.queues());
        for queue in queues.into_values() {
            if let Some(queue) = handle::take::<Queue>(queue) {
                queue.join();
            }
        }
        if let Some(device) = handle::take::<Device>(device.as_raw()) {
            debug_assert!(device.loader != 0);
        }
    }
}

pub unsafe extern "system" fn queue(device: vk::Device, family: u32, index: u32, queue: *mut vk::Queue) {
    // SAFETY: as the API has it.
    unsafe {
        let known = known(device);
        let found = *known
            .queues()
            .entry((family, index))
            .or_insert_with(|| handle::make(Queue::new(device)));
        queue.write(vk::Queue::from_raw(found));
    }
}

pub unsafe extern "system" fn queue2(device: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, out: *mut vk::Queue) {
    // SAFETY: as the API has it.
    unsafe { queue(device, (*info).queue_family_index, (*info).queue_index, out) }
}

pub unsafe extern "system" fn wait_idle(device: vk::Device) -> vk::Result {
    // SAFETY: as the API has it.
    let known = unsafe { known(device) };
    match known.wait_for_queues(None) {
        vk::Result::SUCCESS if known.lock().lost => vk::Result::ERROR_DEVICE_LOST,
        result => result,
    }
}
