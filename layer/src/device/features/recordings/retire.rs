//! Drops recordings when their command buffers are reset, begun again, freed or destroyed.
//!
//! While aborts are not reported, the queues keep those whose aborts may be among them, until the report.

use super::command_buffers::CommandBuffers;
use super::recording::Recording;
use crate::locks::lock;
use ash::vk;
use std::sync::Arc;

impl CommandBuffers {
    /// Drops the recording of a command buffer. `keeps_memory`: for the next one.
    ///
    /// # Safety
    /// Valid usage of a command that begins or resets the command buffer.
    pub unsafe fn reset(
        &self,
        buffer: vk::CommandBuffer,
        keeps_memory: bool,
        has_unreported_aborts: impl FnOnce() -> bool,
    ) {
        // SAFETY: valid usage of such a command (the caller's contract).
        let finished = unsafe { self.clear(buffer) };
        let memory = finished.and_then(|finished| self.retire(finished, has_unreported_aborts));
        if !keeps_memory || memory.is_some() {
            // SAFETY: as above.
            unsafe { self.reuse(buffer, memory.filter(|_| keeps_memory).unwrap_or_default()) };
        }
    }

    /// Removes command buffers that are about to be freed.
    pub fn free(&self, pool: vk::CommandPool, buffers: &[vk::CommandBuffer], has_unreported_aborts: impl Fn() -> bool) {
        for recording in self.remove(pool, buffers) {
            self.retire(recording, &has_unreported_aborts);
        }
    }

    /// Removes a pool that is about to be destroyed, and its command buffers.
    pub fn destroy_pool(&self, pool: vk::CommandPool, has_unreported_aborts: impl Fn() -> bool) {
        for recording in self.remove_pool(pool) {
            self.retire(recording, &has_unreported_aborts);
        }
    }

    /// Drops the recording of a command buffer that is not pending, by the rules of the API. Returns the recording if nothing else
    /// keeps it.
    fn retire(&self, recording: Arc<Recording>, has_unreported_aborts: impl FnOnce() -> bool) -> Option<Recording> {
        if Arc::strong_count(&recording) > 1 && !has_unreported_aborts() {
            for pending in self.pending.values() {
                lock(&pending).remove(&recording);
            }
        }
        Arc::into_inner(recording)
    }
}
