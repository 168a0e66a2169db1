//! The recordings of a queue's submissions that are not known to be complete.

use super::recording::Recording;
use std::collections::HashMap;
use std::sync::Arc;
use vkabort_report::QueueUse;

/// The work that may have aborted.
#[derive(Default)]
pub struct Suspects {
    /// Its queues, ordered by family and index.
    pub queues: Vec<QueueUse>,
    /// Its command buffers, in the order of submission to each queue (`commands = on`).
    pub recordings: Vec<Arc<Recording>>,
}

/// Recordings by their addresses: one that is submitted again has one entry, so that there are no more than command buffers.
#[derive(Default)]
pub struct PendingRecordings(HashMap<usize, Pending>);

struct Pending {
    /// The number of the last submission with it, from 0, and its position there.
    submission: (u64, usize),
    recording: Arc<Recording>,
}

impl PendingRecordings {
    /// Notes the recordings of submission `number`. The first `completed` submissions are complete.
    pub fn note(&mut self, number: u64, completed: u64, recordings: impl Iterator<Item = Arc<Recording>>) {
        self.0.retain(|_, pending| pending.submission.0 >= completed);
        for (position, recording) in recordings.enumerate() {
            let pending = Pending {
                submission: (number, position),
                recording,
            };
            self.0.insert(Arc::as_ptr(&pending.recording) as usize, pending);
        }
    }

    /// Forgets a recording.
    pub fn remove(&mut self, recording: &Arc<Recording>) {
        self.0.remove(&(Arc::as_ptr(recording) as usize));
    }

    /// The recordings of all submissions after the first `completed`, in order.
    pub fn after(&self, completed: u64) -> Vec<Arc<Recording>> {
        let mut pending: Vec<&Pending> = self.0.values().filter(|p| p.submission.0 >= completed).collect();
        pending.sort_by_key(|pending| pending.submission);
        pending
            .into_iter()
            .map(|pending| Arc::clone(&pending.recording))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_pending_until_its_last_submission_is_complete() {
        let [a, b] = [(); 2].map(|()| Arc::new(Recording::default()));
        let mut pending = PendingRecordings::default();
        let is = |pending: &PendingRecordings, completed, expected: &[&Arc<Recording>]| {
            let after = pending.after(completed);
            after.len() == expected.len() && after.iter().zip(expected).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        pending.note(0, 0, [&a, &b].into_iter().cloned());
        assert!(is(&pending, 0, &[&a, &b]));
        pending.note(1, 0, [Arc::clone(&a)].into_iter());
        assert!(is(&pending, 0, &[&b, &a]) && is(&pending, 1, &[&a]) && is(&pending, 2, &[]));
        pending.note(2, 1, std::iter::empty());
        assert_eq!(Arc::strong_count(&b), 1, "forgotten");
        pending.remove(&a);
        assert!(is(&pending, 0, &[]));
    }
}
