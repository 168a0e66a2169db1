//! State of a device that several kinds of objects share.

use crate::addresses::Addresses;
use crate::handle::LOADER_MAGIC;
use crate::settings::{Refused, Settings};
use ash::vk;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of calls of each kind that can be refused, over the whole process.
static CALLS: [AtomicU64; 9] = [const { AtomicU64::new(0) }; 9];
/// Number of waits in the process.
static WAITS: AtomicU64 = AtomicU64::new(0);

/// A device.
#[repr(C)]
pub struct Device {
    _loader: usize,
    /// Behaviour of the device.
    pub settings: Arc<Settings>,
    /// Whether `deviceCoherentMemory` is enabled.
    pub device_coherent: bool,
    /// Mutable state. Execution holds its lock.
    state: Mutex<State>,
    /// Notified when an object is signalled, the device is lost or its threads must end.
    pub changed: Condvar,
    /// Handles of queues by family and index, created on first use.
    pub queues: Mutex<HashMap<(u32, u32), u64>>,
}

/// Mutable state of a device.
#[derive(Default)]
pub struct State {
    /// The device is lost.
    pub lost: bool,
    /// The device is being destroyed, so its threads must end.
    pub ending: bool,
    /// Device addresses of buffers.
    pub addresses: Addresses,
    /// Details of the loss.
    pub faults: Faults,
    /// Device-local allocations by handle.
    pub local_memory: HashMap<u64, LocalMemory>,
    /// Number of commands that found no result and waited for it.
    pub waits: u64,
}

/// Host memory behind a device-local allocation.
pub struct LocalMemory {
    /// Host address.
    pub base: u64,
    /// Size in bytes.
    pub bytes: usize,
}

/// Details of a loss for the fault queries.
#[derive(Default)]
pub struct Faults {
    /// Payloads of shaders that aborted natively.
    pub messages: Vec<Vec<u8>>,
    /// Cause of the loss.
    pub cause: Cause,
    /// The native report was returned.
    pub reported: bool,
}

/// Cause of a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// The settings.
    #[default]
    Settings,
    /// A store to this address.
    Access(u64),
    /// The watchdog.
    Timeout,
}

impl Device {
    /// Creates a device.
    pub fn new(settings: Arc<Settings>, device_coherent: bool) -> Self {
        Self {
            _loader: LOADER_MAGIC,
            settings,
            device_coherent,
            state: Mutex::default(),
            changed: Condvar::new(),
            queues: Mutex::default(),
        }
    }

    /// Locks the mutable state.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Counts a call and returns its error if the settings refuse it.
    pub fn refusal(&self, call: Refused) -> Option<vk::Result> {
        refusal(&self.settings, call)
    }

    /// Loses the device.
    pub fn lose(&self, state: &mut State) {
        if let Some(byte) = self.settings.lost_memory.filter(|_| !state.lost) {
            state.local_memory.values().for_each(|memory| memory.fill(byte));
        }
        state.lost = true;
        self.changed.notify_all();
    }

    /// Whether fences and submissions report a loss.
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
        let deadline = deadline(timeout);
        let mut is_noted = false;
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
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return vk::Result::TIMEOUT;
            }
            if !std::mem::replace(&mut is_noted, true) {
                self.note_wait(&mut state);
            }
            self.wait_for_change(&mut state, deadline);
        }
    }

    /// Counts a command that waits, for submissions under `delay=wait`.
    pub fn note_wait(&self, state: &mut State) {
        state.waits += 1;
        self.changed.notify_all();
    }

    /// Waits for a notification, at most until `deadline`.
    pub fn wait_for_change(&self, state: &mut MutexGuard<'_, State>, deadline: Option<Instant>) {
        match deadline {
            Some(deadline) => _ = self.changed.wait_until(state, deadline),
            None => self.changed.wait(state),
        }
    }
}

/// End of a timeout in nanoseconds. `None` if it never ends.
pub fn deadline(timeout: u64) -> Option<Instant> {
    let end = Instant::now().checked_add(Duration::from_nanos(timeout));
    end.filter(|_| timeout != u64::MAX)
}

impl LocalMemory {
    /// Fills the memory with a byte, word by word because the host may read it concurrently.
    fn fill(&self, byte: u8) {
        let base = self.base as *mut u32;
        for word in 0..self.bytes / 4 {
            // SAFETY: the allocation is removed from the device's map before it is freed, and is aligned to a page.
            let word = unsafe { AtomicU32::from_ptr(base.add(word)) };
            word.store(u32::from_ne_bytes([byte; 4]), Ordering::Relaxed);
        }
    }
}

/// Counts a call and returns its error if the settings refuse it.
pub fn refusal(settings: &Settings, call: Refused) -> Option<vk::Result> {
    let number = CALLS.get(call as usize)?.fetch_add(1, Ordering::Relaxed) + 1;
    let mut refused = settings.refuse.iter();
    refused
        .find(|(refused, nth, _)| *refused == call && nth.is(number))
        .map(|(.., error)| *error)
}
