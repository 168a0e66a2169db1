//! The command buffers of a device, and their recordings.
//!
//! No command of a command buffer takes a lock: its recording is found by its handle, and the application synchronises the access to
//! it ("host access to the VkCommandPool that commandBuffer was allocated from must be externally synchronized"). At its end a
//! recording becomes immutable, and is shared: with the submissions that are not known to be complete, and with the command buffers
//! that execute it. Later commands belong to another recording, so that a report reads immutable data only.

use super::pending_recordings::PendingRecordings;
use super::recording::Recording;
use crate::device::features::markers::Markers;
use crate::loader::dispatch::RecordedTable;
use crate::loader::handle_map::HandleMap;
use crate::locks::lock;
use crate::settings::{Commands, Settings};
use ash::vk::{self, Handle as _};
use std::cell::UnsafeCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Maps that command buffers are spread over: a map of many handles is slow.
const MAPS: usize = 64;

/// Recordings by command buffer, and the command buffers of pools.
pub struct CommandBuffers {
    /// The next layer's functions.
    pub next: RecordedTable,
    /// The markers around actions, if the driver can write them.
    pub markers: Option<Markers>,
    maps: Box<[HandleMap<Recorder>]>,
    pools: Mutex<HashMap<vk::CommandPool, HashSet<vk::CommandBuffer>>>,
    /// Recordings of submissions that are not known to be complete, by queue.
    pub(super) pending: HandleMap<Mutex<PendingRecordings>>,
}

/// The recording of a command buffer, which its external synchronisation protects.
#[derive(Default)]
struct Recorder(UnsafeCell<Progress>);

// SAFETY: the contents are accessed only by commands of the command buffer and its pool, which the application synchronises, and by
// those that submit or execute it, of which none changes them.
unsafe impl Sync for Recorder {}

#[derive(Default)]
struct Progress {
    /// Being recorded.
    recording: Recording,
    /// Recorded.
    finished: Option<Arc<Recording>>,
}

impl CommandBuffers {
    /// The command buffers of a new device, if their commands are recorded.
    ///
    /// # Safety
    /// The device must be live, and `next_gdpa` the next layer's.
    pub unsafe fn create(
        settings: &Settings,
        device: vk::Device,
        next_gdpa: vk::PFN_vkGetDeviceProcAddr,
        markers: Option<Markers>,
    ) -> Option<Self> {
        // SAFETY: the device is live, and `next_gdpa` returns functions of their names' types (the caller's contract).
        let next = || unsafe { RecordedTable::load(|name| next_gdpa(device, name.as_ptr())) };
        (settings.commands != Commands::Off).then(|| Self::new(next(), markers))
    }

    /// None yet.
    pub fn new(next: RecordedTable, markers: Option<Markers>) -> Self {
        Self {
            next,
            markers,
            maps: (0..MAPS).map(|_| HandleMap::new()).collect(),
            pools: Mutex::default(),
            pending: HandleMap::new(),
        }
    }

    fn map(&self, buffer: vk::CommandBuffer) -> &HandleMap<Recorder> {
        // Other bits than those that select a slot of the map.
        let mixed = buffer.as_raw().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        // In bounds: there are as many maps.
        &self.maps[mixed as usize % MAPS]
    }

    /// # Safety
    /// The command buffer must be live, and its recording not in use.
    #[allow(clippy::mut_from_ref)]
    unsafe fn progress(&self, buffer: vk::CommandBuffer) -> Option<&mut Progress> {
        // SAFETY: the command buffer is live, so its entry stays; the application synchronises access to it (the caller's contract).
        unsafe { Some(&mut *self.map(buffer).get(buffer.as_raw() as usize)?.0.get()) }
    }

    /// Adds a command.
    ///
    /// # Safety
    /// Valid usage of a command that records into the command buffer.
    #[inline]
    pub unsafe fn record(&self, buffer: vk::CommandBuffer, add: impl FnOnce(&mut Recording)) {
        // SAFETY: "commandBuffer" is externally synchronised (the caller's contract).
        if let Some(progress) = unsafe { self.progress(buffer) } {
            add(&mut progress.recording);
        }
    }

    /// Calls the next layer's command of an action that was just added, between its markers.
    ///
    /// # Safety
    /// As [`Self::record`].
    #[inline]
    pub unsafe fn with_markers<R>(&self, buffer: vk::CommandBuffer, call: impl FnOnce() -> R) -> R {
        let Some(markers) = &self.markers else {
            return call();
        };
        // SAFETY: "commandBuffer" is externally synchronised (the caller's contract).
        let progress = unsafe { self.progress(buffer) };
        let place = progress.and_then(|progress| {
            let recording = &mut progress.recording;
            if recording.slot.is_none() {
                recording.slot = markers.slot();
            }
            Some((recording.slot.as_ref()?.index(), recording.actions))
        });
        match place {
            // SAFETY: valid usage of the action (the caller's contract).
            Some((slot, number)) => unsafe { markers.around(buffer, slot, number, call) },
            None => call(),
        }
    }

    /// Forgets the markers of the last execution of a command buffer, which is about to be submitted.
    pub(super) fn reset_markers(&self, recording: &Recording) {
        if let Some(markers) = &self.markers {
            recording.for_each(|recording| recording.slot.iter().for_each(|slot| markers.reset(slot)));
        }
    }

    /// `vkEndCommandBuffer`.
    ///
    /// # Safety
    /// Valid usage of the command.
    pub unsafe fn end(&self, buffer: vk::CommandBuffer) {
        // SAFETY: "commandBuffer" is externally synchronised (the caller's contract).
        if let Some(progress) = unsafe { self.progress(buffer) } {
            let mut recording = std::mem::take(&mut progress.recording);
            recording.buffer = buffer;
            progress.finished = Some(Arc::new(recording));
        }
    }

    /// The recording of a command buffer, if it is complete.
    ///
    /// # Safety
    /// Valid usage of a command that submits or executes the command buffer.
    pub unsafe fn finished(&self, buffer: vk::CommandBuffer) -> Option<Arc<Recording>> {
        // SAFETY: the command buffer is live, and is not being recorded (the caller's contract).
        unsafe {
            (*self.map(buffer).get(buffer.as_raw() as usize)?.0.get())
                .finished
                .clone()
        }
    }

    /// Forgets the recording of a command buffer, and returns it if it was complete.
    ///
    /// # Safety
    /// Valid usage of a command that begins or resets the command buffer.
    pub(super) unsafe fn clear(&self, buffer: vk::CommandBuffer) -> Option<Arc<Recording>> {
        // SAFETY: the command buffer or its pool is externally synchronised (the caller's contract).
        let progress = unsafe { self.progress(buffer) }?;
        progress.recording.clear();
        progress.finished.take()
    }

    /// Gives a command buffer that has recorded nothing the memory for its next recording.
    ///
    /// # Safety
    /// As [`Self::clear`].
    pub(super) unsafe fn reuse(&self, buffer: vk::CommandBuffer, mut memory: Recording) {
        memory.clear();
        // SAFETY: as in `clear` (the caller's contract).
        if let Some(progress) = unsafe { self.progress(buffer) } {
            progress.recording = memory;
        }
    }

    /// New command buffers of a pool.
    pub fn add(&self, pool: vk::CommandPool, buffers: &[vk::CommandBuffer]) {
        lock(&self.pools).entry(pool).or_default().extend(buffers);
        for buffer in buffers {
            let recorder = Recorder::default();
            self.map(*buffer).insert(buffer.as_raw() as usize, Arc::new(recorder));
        }
    }

    /// Removes command buffers of a pool, and returns their recordings.
    pub(super) fn remove(&self, pool: vk::CommandPool, buffers: &[vk::CommandBuffer]) -> Vec<Arc<Recording>> {
        if let Some(of_pool) = lock(&self.pools).get_mut(&pool) {
            for buffer in buffers {
                of_pool.remove(buffer);
            }
        }
        let removed = buffers
            .iter()
            .filter_map(|buffer| self.map(*buffer).remove(buffer.as_raw() as usize));
        let recorders = removed.filter_map(Arc::into_inner);
        recorders
            .filter_map(|recorder| recorder.0.into_inner().finished)
            .collect()
    }

    /// The command buffers of a pool.
    pub fn of_pool(&self, pool: vk::CommandPool) -> Vec<vk::CommandBuffer> {
        let pools = lock(&self.pools);
        pools
            .get(&pool)
            .map_or_else(Vec::new, |buffers| buffers.iter().copied().collect())
    }

    /// Removes a pool and its command buffers, and returns their recordings.
    pub(super) fn remove_pool(&self, pool: vk::CommandPool) -> Vec<Arc<Recording>> {
        let removed = self.remove(pool, &self.of_pool(pool));
        lock(&self.pools).remove(&pool);
        removed
    }
}
