//! The debug-utils labels under which a queue's submissions were made.

use crate::locks::lock;
use crate::sync::{AtomicBool, Mutex, Ordering};

/// Most entries of [`Labels::submissions`]: on a queue that is never waited for, no submission counts as completed.
const MAX_SUBMISSIONS: usize = 64;

/// Labels of a queue. While it never had one, a submission costs one atomic load.
#[derive(Default)]
pub struct QueueLabels {
    are_used: AtomicBool,
    labels: Mutex<Labels>,
}

#[derive(Default)]
struct Labels {
    /// Begun and not ended, outermost first.
    open: Vec<String>,
    /// Inserted since the last begin or end.
    inserted: Option<String>,
    /// Numbers of submissions, each with the labels of it and those up to the next number. Ascending. Without entries for the
    /// first submissions, their labels are unknown.
    submissions: Vec<(u64, Vec<String>)>,
}

impl Labels {
    /// Forgets the labels of the first `completed` submissions.
    fn forget(&mut self, completed: u64) {
        let covered = self
            .submissions
            .iter()
            .skip(1)
            .take_while(|(first, _)| *first <= completed);
        let count = covered.count();
        self.submissions.drain(..count);
    }
}

impl QueueLabels {
    /// `vkQueueBeginDebugUtilsLabelEXT`.
    pub fn begin(&self, name: String) {
        self.change(|labels| {
            labels.inserted = None;
            labels.open.push(name);
        });
    }

    /// `vkQueueEndDebugUtilsLabelEXT`.
    pub fn end(&self) {
        self.change(|labels| {
            labels.inserted = None;
            labels.open.pop();
        });
    }

    /// `vkQueueInsertDebugUtilsLabelEXT`.
    pub fn insert(&self, name: String) {
        self.change(|labels| labels.inserted = Some(name));
    }

    fn change(&self, change: impl FnOnce(&mut Labels)) {
        self.are_used.store(true, Ordering::Relaxed);
        change(&mut lock(&self.labels));
    }

    /// Notes the labels of submission `number`, from 0. The first `completed` submissions have completed without an abort.
    pub fn note_submission(&self, number: u64, completed: u64) {
        if !self.are_used.load(Ordering::Relaxed) {
            return;
        }
        let labels = &mut *lock(&self.labels);
        labels.forget(completed);
        let path = labels.open.iter().chain(&labels.inserted);
        let is_new = labels.submissions.last().is_none_or(|(_, last)| path.clone().ne(last));
        if is_new {
            let path = path.cloned().collect();
            if labels.submissions.len() == MAX_SUBMISSIONS {
                labels.submissions.remove(0);
            }
            labels.submissions.push((number, path));
        }
    }

    /// The labels of all submissions after the first `completed`, outermost first. Empty if they differ or are unknown.
    pub fn common(&self, completed: u64) -> Vec<String> {
        let labels = &mut *lock(&self.labels);
        labels.forget(completed);
        match labels.submissions.as_slice() {
            [(first, path)] if *first <= completed => path.clone(),
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_all_open_submissions() {
        let labels = QueueLabels::default();
        labels.note_submission(0, 0);
        labels.begin("frame".into());
        labels.begin("shadows".into());
        labels.note_submission(1, 0);
        labels.note_submission(2, 0);
        assert!(labels.common(0).is_empty(), "the first submission has none");
        assert_eq!(labels.common(1), ["frame", "shadows"]);
        assert_eq!(labels.common(2), ["frame", "shadows"]);
        labels.end();
        labels.insert("marker".into());
        labels.note_submission(3, 2);
        assert!(labels.common(2).is_empty(), "two paths");
        assert_eq!(labels.common(3), ["frame", "marker"]);
        labels.end();
        labels.end();
        labels.note_submission(4, 4);
        assert!(labels.common(4).is_empty());
    }

    #[test]
    fn labels_of_a_queue_that_is_never_waited_for_take_bounded_memory() {
        let labels = QueueLabels::default();
        for number in 0..1000 {
            labels.begin(format!("pass {number}"));
            labels.note_submission(number, 0);
            labels.end();
        }
        assert!(lock(&labels.labels).submissions.len() <= MAX_SUBMISSIONS);
        assert!(labels.common(0).is_empty());
        assert!(labels.common(900).is_empty(), "some are forgotten");
        assert_eq!(labels.common(999), ["pass 999"]);
    }
}
