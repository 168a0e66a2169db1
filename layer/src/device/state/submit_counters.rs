//! Counts submissions with command buffers, per queue, to find the queue and the command buffer of an abort.

use crate::sync::{AtomicU64, Ordering};

/// Submissions with command buffers to one queue.
#[derive(Default)]
pub struct SubmitCounters {
    submitted: AtomicU64,
    /// Submissions covered by a successful wait before any abort.
    completed: AtomicU64,
    /// The only command buffer of the last submission; 0 if it had several.
    last: AtomicU64,
}

impl SubmitCounters {
    /// Counts a submission, which is externally synchronised. `only`: its command buffer, or 0 if it has several. An atomic
    /// store and an atomic add.
    pub fn count_submission(&self, only: u64) {
        self.last.store(only, Ordering::Relaxed);
        self.submitted.fetch_add(1, Ordering::Relaxed);
    }

    /// Submissions so far.
    pub fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Relaxed)
    }

    /// The first submissions that are covered by a successful wait.
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Relaxed)
    }

    /// The first `submitted` submissions completed without an abort.
    pub fn mark_completed(&self, submitted: u64) {
        self.completed.fetch_max(submitted, Ordering::Relaxed);
    }

    /// The only command buffer of the only submission that is not yet covered by a successful wait.
    pub fn only_command_buffer(&self) -> Option<u64> {
        let is_one = self.submitted() == self.completed() + 1;
        Some(self.last.load(Ordering::Relaxed)).filter(|handle| is_one && *handle != 0)
    }

    /// Some submission is not yet covered by a successful wait.
    pub fn has_open_submissions(&self) -> bool {
        self.submitted() > self.completed()
    }
}
