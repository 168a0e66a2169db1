//! On which queue a shader has aborted, as well as it can be known without looking at command buffers.
//!
//! A queue is suspect while it has submissions with command buffers of which nobody has seen that they ended well: the
//! application waited for the queue, or for the device, and no abort had been recorded by then. Which stages a queue's
//! family runs takes away more, abort by abort. What is left is one queue in most programs; else the report names all of
//! them.
//!
//! Cost of a submission: a lookup without a lock, and one atomic add to a counter of its queue.

use crate::device::state::{AbortState, Device, Queue};
use crate::locks::lock;
use ash::vk::{self, Handle};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use vkabort_record::report::QueueUse;

/// What has been submitted to a queue for its shaders to run.
#[derive(Default)]
pub struct SubmitCounters {
    /// Submissions with command buffers so far.
    submitted: AtomicU64,
    /// As many of them are known to have ended well.
    well: AtomicU64,
}

/// How much had been submitted to queues before a wait for them began.
pub struct WaitMark(Vec<(Arc<Queue>, u64)>);

impl WaitMark {
    /// Those of the queues that were used at all.
    pub fn used(&self) -> Vec<vk::Queue> {
        let used = self.0.iter().filter(|(queue, _)| lock(&queue.work).submitted > 0);
        used.map(|(queue, _)| queue.handle).collect()
    }

    /// Takes note of what the wait's result says, and passes it on.
    pub fn told(self, result: vk::Result) -> vk::Result {
        if result == vk::Result::SUCCESS {
            self.ended_well();
        }
        result
    }

    /// The wait was over and nothing had aborted.
    pub fn ended_well(self) {
        for (queue, submitted) in self.0 {
            queue.counters.well.fetch_max(submitted, Ordering::Relaxed);
        }
    }
}

/// What has been submitted to these queues.
pub fn before(queues: Vec<Arc<Queue>>) -> WaitMark {
    let count = |queue: Arc<Queue>| {
        let submitted = queue.counters.submitted.load(Ordering::Relaxed);
        (queue, submitted)
    };
    WaitMark(queues.into_iter().map(count).collect())
}

impl AbortState {
    /// Counts a submission with command buffers.
    pub fn submits_work(&self, device: &Device, queue: vk::Queue) {
        if let Some(queue) = self.queue(device, queue) {
            queue.counters.submitted.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The queue behind a handle, as what [`before`] takes.
    pub fn only(&self, queue: vk::Queue) -> Vec<Arc<Queue>> {
        let mut all = self.queues.values();
        all.retain(|known| known.handle == queue);
        all
    }

    /// The queues of `queues` on which a shader may have aborted, in the order of families and indices.
    pub fn suspects(&self, queues: &[Arc<Queue>]) -> Vec<QueueUse> {
        let mut suspects: Vec<&Arc<Queue>> = queues.iter().filter(|queue| queue.counters.is_open()).collect();
        suspects.sort_by_key(|queue| queue.place.get().copied());
        suspects.into_iter().map(|queue| self.describe(queue)).collect()
    }

    fn describe(&self, queue: &Queue) -> QueueUse {
        let place = queue.place.get();
        let flags = place
            .and_then(|place| self.families.get(place.family as usize))
            .copied()
            .unwrap_or(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let name = self.names.get(vk::ObjectType::QUEUE, queue.handle.as_raw());
        QueueUse {
            name: name.unwrap_or_else(|| match place {
                Some(place) => format!("(family {}, index {})", place.family, place.index),
                None => format!("({:?})", queue.handle),
            }),
            graphics: flags.contains(vk::QueueFlags::GRAPHICS),
            compute: flags.contains(vk::QueueFlags::COMPUTE),
        }
    }
}

impl SubmitCounters {
    fn is_open(&self) -> bool {
        self.submitted.load(Ordering::Relaxed) > self.well.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::state::Place;

    fn queue(handle: u64, family: u32, index: u32) -> Arc<Queue> {
        let queue = Queue::new(vk::Queue::from_raw(handle), vk::Fence::null());
        let _ = queue.place.set(Place { family, index });
        Arc::new(queue)
    }

    fn names(state: &AbortState, queues: &[Arc<Queue>]) -> Vec<String> {
        state.suspects(queues).into_iter().map(|queue| queue.name).collect()
    }

    #[test]
    fn a_queue_is_suspect_from_a_submission_until_a_wait_ends_well() {
        let state = AbortState {
            families: vec![
                vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE,
                vk::QueueFlags::TRANSFER,
            ],
            ..AbortState::watching(Default::default())
        };
        let queues = [queue(0x30, 1, 0), queue(0x20, 0, 1), queue(0x10, 0, 0)];
        assert!(state.suspects(&queues).is_empty(), "nothing was submitted");
        for queue in &queues {
            queue.counters.submitted.fetch_add(2, Ordering::Relaxed);
        }
        state.names.set(vk::ObjectType::QUEUE, 0x20, "compute".into());
        assert_eq!(
            names(&state, &queues),
            ["(family 0, index 0)", "compute", "(family 1, index 0)"]
        );
        let transfer = &state.suspects(&queues)[2];
        assert!(!transfer.graphics && !transfer.compute);

        let waiting = before(queues.to_vec());
        // What is submitted during the wait is not waited for.
        queues[1].counters.submitted.fetch_add(1, Ordering::Relaxed);
        waiting.ended_well();
        assert_eq!(names(&state, &queues), ["compute"]);
        before(queues.to_vec()).ended_well();
        assert!(state.suspects(&queues).is_empty());
    }
}
