//! Counts submissions with command buffers, per queue, to find the queue of an abort.

use crate::sync::{AtomicU64, Ordering};

/// Submissions with command buffers to one queue.
#[derive(Default)]
pub struct SubmitCounters {
    submitted: AtomicU64,
    /// Submissions covered by a successful wait before any abort.
    completed: AtomicU64,
}

impl SubmitCounters {
    /// Counts a submission. One atomic add.
    pub fn count_submission(&self) {
        self.submitted.fetch_add(1, Ordering::Relaxed);
    }

    /// Submissions so far.
    pub fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Relaxed)
    }

    /// The first `submitted` submissions completed without an abort.
    pub fn mark_completed(&self, submitted: u64) {
        self.completed.fetch_max(submitted, Ordering::Relaxed);
    }

    /// Some submission is not yet covered by a successful wait.
    pub fn has_open_submissions(&self) -> bool {
        self.submitted() > self.completed.load(Ordering::Relaxed)
    }
}
