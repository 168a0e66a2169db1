//! The end of what command buffers have recorded.

use super::state::{AbortState, Recording};
use crate::locks::lock;
use ash::vk;
use std::sync::Arc;

impl AbortState {
    /// Forgets what a command buffer has recorded. `keeps_memory`: for what it records next.
    ///
    /// # Safety
    /// Valid usage of a command that begins or resets the command buffer.
    pub unsafe fn clear_recording(&self, buffer: vk::CommandBuffer, keeps_memory: bool) {
        let Some(commands) = &self.commands else { return };
        // SAFETY: valid usage of such a command (the caller's contract).
        let finished = unsafe { commands.clear(buffer) };
        let memory = finished.and_then(|finished| self.retire(finished));
        if !keeps_memory || memory.is_some() {
            // SAFETY: as above.
            unsafe { commands.reuse(buffer, memory.filter(|_| keeps_memory).unwrap_or_default()) };
        }
    }

    /// Gives up the recording of a command buffer that is not pending, by the rules of the API. If its aborts can still be reported,
    /// the queues keep it until the report. Returns the recording if nothing has it any more.
    pub fn retire(&self, recording: Arc<Recording>) -> Option<Recording> {
        if Arc::strong_count(&recording) > 1 && !self.has_unreported_aborts() {
            for queue in self.queues.values() {
                lock(&queue.pending).remove(&recording);
            }
        }
        Arc::into_inner(recording)
    }
}

#[cfg(test)]
#[path = "recordings_tests.rs"]
mod tests;
