//! Work that was submitted up to a moment.

use super::queue::Queue;
use std::sync::Arc;

/// For each queue of a device its submissions so far.
pub struct SubmitMark(Vec<(Arc<Queue>, u64)>);

impl SubmitMark {
    /// Marks the submissions to `queues`, which are those of a device.
    pub fn new(queues: Vec<Arc<Queue>>) -> Self {
        let mark = |queue: Arc<Queue>| {
            let submitted = queue.counters.submitted();
            (queue, submitted)
        };
        Self(queues.into_iter().map(mark).collect())
    }

    /// Whether all of them are known to be complete.
    pub fn is_complete(&self) -> bool {
        let mut queues = self.0.iter();
        queues.all(|(queue, submitted)| queue.counters.completed() >= *submitted)
    }
}
