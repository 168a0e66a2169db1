//! How far each queue came before the driver lost the device, by the markers around its commands.

use super::replay::replay;
use crate::device::AbortState;
use crate::device::features::markers::Progress;
use crate::device::features::recordings::Recording;
use crate::device::state::{Objects, Users};
use std::slice;
use std::sync::Arc;
use vkabort_report::QueueProgress;

/// The last commands that had begun and ended on each queue with pending work. Empty without markers, and for queues of which none had
/// begun.
///
/// # Safety
/// The queues must be live, and the driver must have lost the device.
pub unsafe fn queue_progress(state: &AbortState) -> Vec<QueueProgress> {
    let Some(markers) = state.commands.as_ref().and_then(|commands| commands.markers.as_ref()) else {
        return Vec::new();
    };
    let of_queue = |queue: &Arc<_>| {
        let suspects = state.suspects(slice::from_ref(queue));
        let used = suspects.queues.into_iter().next()?;
        // SAFETY: the queue is live, and the device lost (the caller's contract).
        let checkpoints = unsafe { markers.checkpoints(queue.handle) };
        let of_recording = |recording: &Recording| match &recording.slot {
            Some(slot) => markers.progress(slot, recording.actions, checkpoints),
            None => Progress::default(),
        };
        last_commands(&state.objects, &suspects.recordings, of_recording, used.name)
    };
    state.queues.values().iter().filter_map(of_queue).collect()
}

/// The last commands of a queue's pending command buffers that had begun and ended. `None` if none had begun. O(commands).
fn last_commands(
    objects: &Objects,
    pending: &[Arc<Recording>],
    progress: impl Fn(&Recording) -> Progress,
    queue: String,
) -> Option<QueueProgress> {
    let users = Users::any();
    let (mut begun, mut ended) = (None, None);
    for recording in pending {
        for (recording, command) in replay(objects, recording, &users) {
            let Progress { begun: b, ended: e } = progress(recording);
            if command.number <= u64::from(e) {
                ended = Some(command.clone());
            }
            if command.number <= u64::from(b) {
                begun = Some(command);
            }
        }
    }
    Some(QueueProgress {
        queue,
        ended: ended.map(|command| command.report()),
        begun: begun?.report(),
    })
}

/// Number of pending command buffers whose commands have no markers, since others use all slots.
pub fn without_markers(state: &AbortState, pending: &[Arc<Recording>]) -> usize {
    if state
        .commands
        .as_ref()
        .is_none_or(|commands| commands.markers.is_none())
    {
        return 0;
    }
    let lacks = |recording: &&Arc<Recording>| recording.actions > 0 && recording.slot.is_none();
    pending.iter().filter(lacks).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::features::recordings::action::ActionNumber;
    use ash::vk::{self, Handle as _};

    fn recording(buffer: u64, dispatches: u32, record: impl FnOnce(&mut Recording)) -> Arc<Recording> {
        let mut recording = Recording::default();
        recording.buffer = vk::CommandBuffer::from_raw(buffer);
        recording.bind_pipeline(vk::PipelineBindPoint::COMPUTE, vk::Pipeline::from_raw(1));
        for x in 1..=dispatches {
            recording.action(ActionNumber::vkCmdDispatch, |words| words.extend([x, 1, 1]));
        }
        record(&mut recording);
        Arc::new(recording)
    }

    #[test]
    fn the_last_commands_are_those_of_the_last_command_buffers_that_came_so_far() {
        let secondary = recording(2, 3, |_| {});
        let first = recording(1, 2, |first| first.execute([Arc::clone(&secondary)].into_iter()));
        let last = recording(3, 2, |_| {});
        let pending = [first, last];
        let found = |progress: [[u32; 2]; 3]| {
            let of = |recording: &Recording| {
                let [begun, ended] = progress[recording.buffer.as_raw() as usize - 1];
                Progress { begun, ended }
            };
            let found = last_commands(&Objects::default(), &pending, of, "q".into())?;
            let numbers = |command: vkabort_report::CommandReport| (command.command_buffers.len(), command.number);
            Some((found.ended.map(numbers), numbers(found.begun)))
        };
        assert_eq!(found([[0, 0], [0, 0], [0, 0]]), None);
        assert_eq!(found([[1, 0], [0, 0], [0, 0]]), Some((None, (1, 1))));
        assert_eq!(found([[2, 2], [3, 1], [0, 0]]), Some((Some((2, 1)), (2, 3))));
        assert_eq!(found([[2, 2], [3, 3], [1, 0]]), Some((Some((2, 3)), (1, 1))));
    }
}
