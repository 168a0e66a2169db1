//! Keeps the recordings of submissions until these are known to be complete.

use super::command_buffers::CommandBuffers;
use super::recording::Recording;
use crate::device::state::Queue;
use crate::locks::lock;
use ash::vk::{self, Handle as _};
use std::sync::Arc;

impl CommandBuffers {
    /// Notes a submission to a queue, which is not yet counted, and forgets the markers of earlier executions.
    ///
    /// # Safety
    /// The command buffers must be live, and not being recorded.
    pub unsafe fn note_submission(&self, queue: &Queue, buffers: impl Iterator<Item = vk::CommandBuffer>) {
        // SAFETY: the command buffers are live, and not being recorded (the caller's contract).
        let recordings = buffers.filter_map(|buffer| unsafe { self.finished(buffer) });
        let recordings = recordings.inspect(|recording| self.reset_markers(recording));
        let (number, completed) = (queue.counters.submitted(), queue.counters.completed());
        // SAFETY: entries are removed only when the map is dropped, together with `self`.
        let pending = unsafe { self.pending.get_or_insert(queue.handle.as_raw() as usize, Arc::default) };
        if let Some(pending) = pending {
            lock(pending).note(number, completed, recordings);
        }
    }

    /// The recordings of a queue's submissions that are not known to be complete, in order.
    pub fn pending_on(&self, queue: &Queue) -> Vec<Arc<Recording>> {
        let pending = self.pending.share(queue.handle.as_raw() as usize);
        pending.map_or_else(Vec::new, |pending| lock(&pending).after(queue.counters.completed()))
    }
}
