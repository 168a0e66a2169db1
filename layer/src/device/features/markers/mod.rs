//! Markers around the actions of command buffers (`commands = markers`). They show the progress of a device before its driver lost it.
//!
//! A recording has a slot, and its actions have the numbers of reports. With `VK_AMD_buffer_marker` a slot is two words in memory of
//! the layer: the last action that has begun, and the last that has ended. With `VK_NV_device_diagnostic_checkpoints` the driver keeps
//! for each queue the last marker that has passed the top and the bottom of the pipeline; a marker is slot, action and side.

mod create_markers;

use crate::arena::MappedBuffer;
use crate::loader::dispatch::DeviceTable;
use crate::locks::lock;
use ash::vk::{self, PipelineStageFlags as Stage};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Size in bytes of the memory for markers of `VK_AMD_buffer_marker`.
const BYTES: u32 = SLOTS * SLOT_BYTES;
const SLOTS: u32 = 1 << 13;
const SLOT_BYTES: u32 = 8;
/// Most checkpoints of a queue: one for each stage.
const MAX_CHECKPOINTS: usize = 32;

/// An extension that writes markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerExtension {
    /// `VK_AMD_buffer_marker`.
    BufferMarker,
    /// `VK_NV_device_diagnostic_checkpoints`.
    Checkpoints,
}

/// A side of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Begin,
    End,
}

/// The place of a recording's markers. Free again when it is dropped.
#[derive(Debug)]
pub struct Slot {
    index: u32,
    slots: Arc<Slots>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.slots.unused).1.push(self.index);
    }
}

#[derive(Debug)]
struct Slots {
    /// The first that was never used, and those that are free again.
    unused: Mutex<(u32, Vec<u32>)>,
    count: u32,
}

/// Numbers of the last actions of a recording that have begun and ended, from 1; 0 if none has, or if it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Begun.
    pub begun: u32,
    /// Ended.
    pub ended: u32,
}

/// The markers of a device.
pub struct Markers {
    slots: Arc<Slots>,
    writer: Writer,
}

enum Writer {
    BufferMarker {
        write: vk::PFN_vkCmdWriteBufferMarkerAMD,
        memory: MappedBuffer,
    },
    Checkpoints {
        set: vk::PFN_vkCmdSetCheckpointNV,
        get: vk::PFN_vkGetQueueCheckpointDataNV,
    },
}

// SAFETY: the memory belongs to the markers, and all threads access it as atomics.
unsafe impl Send for Markers {}
// SAFETY: as for `Send`.
unsafe impl Sync for Markers {}

impl Markers {
    /// Markers in mapped memory of [`BYTES`] zeroed bytes.
    fn in_memory(write: vk::PFN_vkCmdWriteBufferMarkerAMD, memory: MappedBuffer) -> Self {
        Self::new(Writer::BufferMarker { write, memory }, SLOTS)
    }

    /// Markers that the driver keeps.
    fn of_driver(set: vk::PFN_vkCmdSetCheckpointNV, get: vk::PFN_vkGetQueueCheckpointDataNV) -> Self {
        Self::new(Writer::Checkpoints { set, get }, u32::MAX - 1)
    }

    fn new(writer: Writer, count: u32) -> Self {
        let unused = Mutex::default();
        Self {
            slots: Arc::new(Slots { unused, count }),
            writer,
        }
    }

    /// A free slot. `None`: all are in use.
    pub fn slot(&self) -> Option<Slot> {
        let (first, free) = &mut *lock(&self.slots.unused);
        let index = free.pop().or_else(|| {
            let next = Some(*first).filter(|next| *next < self.slots.count)?;
            *first += 1;
            Some(next)
        })?;
        let slots = Arc::clone(&self.slots);
        Some(Slot { index, slots })
    }

    /// Records an action between its markers.
    ///
    /// # Safety
    /// Valid usage of the action in the command buffer, which `call` records.
    pub unsafe fn around<R>(&self, buffer: vk::CommandBuffer, slot: u32, number: u32, call: impl FnOnce() -> R) -> R {
        // SAFETY: both commands are allowed wherever an action is: in and outside of render passes, in primary and secondary command
        // buffers of queues for graphics and compute (the caller's contract).
        unsafe { self.write(buffer, slot, number, Side::Begin) };
        let result = call();
        // SAFETY: as above.
        unsafe { self.write(buffer, slot, number, Side::End) };
        result
    }

    /// # Safety
    /// Valid usage of an action in the command buffer.
    unsafe fn write(&self, buffer: vk::CommandBuffer, slot: u32, number: u32, side: Side) {
        match &self.writer {
            Writer::BufferMarker { write, memory } => {
                let (stage, word) = match side {
                    Side::Begin => (Stage::TOP_OF_PIPE, 0),
                    Side::End => (Stage::BOTTOM_OF_PIPE, 1),
                };
                let offset = slot * SLOT_BYTES + word * 4;
                // SAFETY: the extension is enabled, the offset is in the buffer, and the caller's contract.
                unsafe { write(buffer, stage, memory.buffer, u64::from(offset), number) };
            }
            Writer::Checkpoints { set, .. } => {
                let marker = checkpoint(slot, number, side) as usize as *const c_void;
                // SAFETY: the extension is enabled, and the caller's contract. The driver does not read through the pointer.
                unsafe { set(buffer, marker) };
            }
        }
    }

    /// Forgets what an earlier execution of a recording has written, before it is submitted.
    pub fn reset(&self, slot: &Slot) {
        for word in self.words(slot).into_iter().flatten() {
            word.store(0, Ordering::Relaxed);
        }
    }

    fn words(&self, slot: &Slot) -> Option<&[AtomicU32; 2]> {
        let Writer::BufferMarker { memory, .. } = &self.writer else {
            return None;
        };
        // SAFETY: the memory has `SLOTS` slots, is mapped as long as the markers exist, and aligned to more than a slot. Device and
        // host access it as whole words.
        Some(unsafe { memory.base.cast::<[AtomicU32; 2]>().add(slot.index as usize).as_ref() })
    }

    /// The checkpoints of a queue: the last at the top and at the bottom of the pipeline.
    ///
    /// # Safety
    /// The queue must be live, and its driver must have lost the device (VUID-vkGetQueueCheckpointDataNV-queue-02025).
    pub unsafe fn checkpoints(&self, queue: vk::Queue) -> Checkpoints {
        let mut found = Checkpoints::default();
        let Writer::Checkpoints { get, .. } = &self.writer else {
            return found;
        };
        let mut data = [vk::CheckpointDataNV::default(); MAX_CHECKPOINTS];
        let mut count = data.len() as u32;
        // SAFETY: the extension is enabled, the device is lost (the caller's contract), and the array has `count` elements.
        unsafe { get(queue, &mut count, data.as_mut_ptr()) };
        for checkpoint in data.iter().take(count as usize) {
            let marker = checkpoint.p_checkpoint_marker as usize as u64;
            match checkpoint.stage {
                Stage::TOP_OF_PIPE => found.top = marker,
                Stage::BOTTOM_OF_PIPE => found.bottom = marker,
                _ => {}
            }
        }
        found
    }

    /// The progress of a recording. `checkpoints`: of its queue. `actions`: number of its actions.
    pub fn progress(&self, slot: &Slot, actions: u32, checkpoints: Checkpoints) -> Progress {
        let Some(words) = self.words(slot) else {
            return checkpoints.progress(slot.index);
        };
        let [begun, ended] = words.each_ref().map(|word| word.load(Ordering::Acquire));
        // Lost memory may read as ones. An earlier execution that is still pending may have ended an action.
        match begun.max(ended) <= actions {
            true => Progress {
                begun: begun.max(ended),
                ended,
            },
            false => Progress::default(),
        }
    }

    /// Destroys the memory.
    ///
    /// # Safety
    /// All submitted work with markers has completed, and none is submitted afterwards.
    pub unsafe fn destroy(self, device: vk::Device, next: &DeviceTable) {
        if let Writer::BufferMarker { memory, .. } = self.writer {
            // SAFETY: the caller's contract.
            unsafe { memory.destroy(device, next) };
        }
    }
}

/// A marker of an action. Not 0.
fn checkpoint(slot: u32, number: u32, side: Side) -> u64 {
    u64::from(slot + 1) << 32 | u64::from(number) << 1 | u64::from(side == Side::End)
}

/// The last checkpoints of a queue; 0 if there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checkpoints {
    top: u64,
    bottom: u64,
}

impl Checkpoints {
    fn progress(self, slot: u32) -> Progress {
        let of_slot = |marker: u64| {
            let number = marker as u32 >> 1;
            (marker >> 32 == u64::from(slot) + 1).then_some((number, marker & 1 == 1))
        };
        let begun = of_slot(self.top).map_or(0, |(number, _)| number);
        // In front of an action, those before it have ended.
        let ended = of_slot(self.bottom).map_or(0, |(number, is_end)| number - u32::from(!is_end && number > 0));
        let begun = begun.max(ended);
        Progress { begun, ended }
    }
}

impl Slot {
    /// Its index.
    pub fn index(&self) -> u32 {
        self.index
    }
}

#[cfg(test)]
mod tests;
