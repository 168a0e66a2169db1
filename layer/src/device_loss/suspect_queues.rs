//! The queues on which a shader may have aborted, without tracking command buffers.
//!
//! A queue is suspect while it has submissions with command buffers that are not yet covered by a successful wait: for the
//! queue, the device, or a fence or timeline semaphore behind them. Each abort then drops the queues whose family cannot run
//! its stage. One queue remains in most programs; otherwise the report names all that remain.
//!
//! Cost of a submission: a lock-free lookup and one atomic add; a lock for its fence, and for each timeline semaphore.

use crate::device::features::recordings::{Recording, Suspects};
use crate::device::state::{Queue, Signal};
use crate::device::{AbortState, Device};
use crate::locks::lock;
use crate::sync::Arc;
use ash::vk::{self, Handle};
use vkabort_report::QueueUse;

/// The number of submissions to each queue before a wait begins.
#[derive(Default)]
pub struct WaitMark<'a>(Vec<(&'a Queue, u64)>);

impl<'a> WaitMark<'a> {
    /// Marks the submissions so far to `queues`.
    pub fn new(queues: impl IntoIterator<Item = &'a Queue>) -> Self {
        let mark = |queue: &'a Queue| (queue, queue.counters.submitted());
        Self(queues.into_iter().map(mark).collect())
    }

    /// Marks the submissions so far to all of `queues`.
    pub fn of_queues(queues: &'a [Arc<Queue>]) -> Self {
        Self::new(queues.iter().map(|queue| &**queue))
    }

    /// Marks the submissions before the signals that the wait covers. Taken before the wait, since another thread may submit the
    /// fence again as soon as it has signalled.
    pub fn of_signals(device: &'a Device, signals: impl Iterator<Item = Signal> + Clone) -> Self {
        let Some(state) = &device.state else {
            return Self::default();
        };
        let covered = state.signals.covered(signals).into_iter();
        Self(
            covered
                .filter_map(|(queue, submitted)| Some((state.queue(device, queue)?, submitted)))
                .collect(),
        )
    }

    /// The marked queues that have been used.
    pub fn used_queues(&self) -> Vec<vk::Queue> {
        let used = self.0.iter().filter(|(queue, _)| lock(&queue.work).submitted > 0);
        used.map(|(queue, _)| queue.handle).collect()
    }

    /// As [`WaitMark::complete_if_successful`], for a wait that may end before an abort is reported.
    pub fn complete_without_abort(self, device: &Device, result: vk::Result) -> vk::Result {
        match &device.state {
            Some(state) if state.has_unreported_aborts() => result,
            _ => self.complete_if_successful(result),
        }
    }

    /// Marks the submissions as completed if the wait's result is `VK_SUCCESS`. Returns the result.
    pub fn complete_if_successful(self, result: vk::Result) -> vk::Result {
        if result == vk::Result::SUCCESS {
            self.mark_completed();
        }
        result
    }

    /// Marks the submissions as completed without an abort.
    pub fn mark_completed(self) {
        for (queue, submitted) in self.0 {
            queue.counters.mark_completed(submitted);
        }
    }
}

impl AbortState {
    /// Counts a submission with command buffers. `only`: the command buffer, or 0 if it has several.
    pub fn count_submission(&self, device: &Device, queue: vk::Queue, only: u64) {
        if let Some(queue) = self.queue(device, queue) {
            let counters = &queue.counters;
            queue.labels.note_submission(counters.submitted(), counters.completed());
            counters.count_submission(only);
        }
    }

    /// Notes a signal behind the submissions so far to a queue.
    pub fn note_signal(&self, device: &Device, queue: vk::Queue, signal: Signal) {
        if let Some(state) = self.queue(device, queue) {
            self.signals.note(signal, queue, state.counters.submitted());
        }
    }

    /// The subset of `queues` on which a shader may have aborted, and its work.
    pub fn suspects(&self, queues: &[Arc<Queue>]) -> Suspects {
        let open = queues.iter().filter(|queue| queue.counters.has_open_submissions());
        let mut suspects: Vec<&Arc<Queue>> = open.collect();
        suspects.sort_by_key(|queue| queue.location.get().copied());
        let mut recordings: Vec<Arc<Recording>> = Vec::new();
        for queue in &suspects {
            let commands = self.commands.as_ref();
            let mut pending = commands.map_or_else(Vec::new, |commands| commands.pending_on(queue));
            // A command buffer with simultaneous use is pending once.
            pending.retain(|new| !recordings.iter().any(|other| Arc::ptr_eq(new, other)));
            recordings.append(&mut pending);
        }
        Suspects {
            queues: suspects.into_iter().map(|queue| self.queue_use(queue)).collect(),
            recordings,
        }
    }

    fn queue_use(&self, queue: &Queue) -> QueueUse {
        let location = queue.location.get();
        let flags = location
            .and_then(|location| self.families.get(location.family as usize))
            .copied()
            .unwrap_or(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let name = self.objects.name(vk::ObjectType::QUEUE, queue.handle.as_raw());
        QueueUse {
            name: name.unwrap_or_else(|| match location {
                Some(location) => format!("(family {}, index {})", location.family, location.index),
                None => format!("({:?})", queue.handle),
            }),
            graphics: flags.contains(vk::QueueFlags::GRAPHICS),
            compute: flags.contains(vk::QueueFlags::COMPUTE),
            command_buffer: queue
                .counters
                .only_command_buffer()
                .and_then(|handle| self.objects.name(vk::ObjectType::COMMAND_BUFFER, handle)),
            labels: queue.labels.common(queue.counters.completed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::state::QueueLocation;

    fn queue(handle: u64, family: u32, index: u32) -> Arc<Queue> {
        let queue = Queue::new(vk::Queue::from_raw(handle), vk::Fence::null());
        let _ = queue.location.set(QueueLocation { family, index });
        Arc::new(queue)
    }

    fn names(state: &AbortState, queues: &[Arc<Queue>]) -> Vec<String> {
        state
            .suspects(queues)
            .queues
            .into_iter()
            .map(|queue| queue.name)
            .collect()
    }

    #[test]
    fn a_queue_is_suspect_from_a_submission_until_a_successful_wait() {
        let state = AbortState {
            families: vec![
                vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE,
                vk::QueueFlags::TRANSFER,
            ],
            ..AbortState::default()
        };
        let queues = [queue(0x30, 1, 0), queue(0x20, 0, 1), queue(0x10, 0, 0)];
        assert!(state.suspects(&queues).queues.is_empty(), "nothing was submitted");
        for queue in &queues {
            queue.counters.count_submission(7);
            queue.counters.count_submission(7);
        }
        state.objects.set_name(vk::ObjectType::QUEUE, 0x20, "compute".into());
        assert_eq!(
            names(&state, &queues),
            ["(family 0, index 0)", "compute", "(family 1, index 0)"]
        );
        let transfer = &state.suspects(&queues).queues[2];
        assert!(!transfer.graphics && !transfer.compute);

        let mark = WaitMark::of_queues(&queues);
        // The wait does not cover what is submitted after it began.
        queues[1].counters.count_submission(7);
        mark.mark_completed();
        assert_eq!(names(&state, &queues), ["compute"]);
        WaitMark::of_queues(&queues).mark_completed();
        assert!(state.suspects(&queues).queues.is_empty());
    }

    #[test]
    fn a_command_buffer_is_named_if_no_other_can_have_aborted() {
        let state = AbortState::default();
        let queues = [queue(0x10, 0, 0)];
        let name = |state: &AbortState| state.suspects(&queues).queues.remove(0).command_buffer;
        queues[0].counters.count_submission(7);
        assert_eq!(name(&state), None, "it has no name");
        state
            .objects
            .set_name(vk::ObjectType::COMMAND_BUFFER, 7, "frame".into());
        assert_eq!(name(&state).as_deref(), Some("frame"));
        queues[0].counters.count_submission(7);
        assert_eq!(name(&state), None, "two submissions");
        WaitMark::of_queues(&queues).mark_completed();
        queues[0].counters.count_submission(0);
        assert_eq!(name(&state), None, "several command buffers");
        WaitMark::of_queues(&queues).mark_completed();
        state.objects.forget_command_buffer_names([8, 7]);
        queues[0].counters.count_submission(7);
        assert_eq!(name(&state), None, "a new command buffer with the handle of an old one");
    }
}
