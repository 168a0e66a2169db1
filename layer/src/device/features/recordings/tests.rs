//! The lifetime of recordings.

use super::action::ActionNumber;
use super::*;
use crate::device::state::{Phase, Queue};
use crate::intercept::testing::TestDevice;
use crate::loader::dispatch::{DeviceTable, RecordedTable};
use ash::vk::{self, Handle as _};
use std::sync::Arc;

const POOL: u64 = 5;
const BUFFER: u64 = 0x100;

fn device() -> TestDevice {
    let commands = CommandBuffers::new(RecordedTable::EMPTY, None);
    commands.add(vk::CommandPool::from_raw(POOL), &[vk::CommandBuffer::from_raw(BUFFER)]);
    TestDevice::with_commands(DeviceTable::EMPTY, Some(commands))
}

impl TestDevice {
    fn commands(&self) -> &CommandBuffers {
        self.state().commands.as_ref().expect("commands are recorded")
    }

    /// Begins the command buffer, dispatches `count` times, and ends it.
    fn record(&self, count: usize) {
        let buffer = vk::CommandBuffer::from_raw(BUFFER);
        // SAFETY: the command buffer is live, and no other thread uses it.
        unsafe {
            self.reset(buffer, true);
            for _ in 0..count {
                self.commands().record(buffer, |recording| {
                    recording.action(ActionNumber::vkCmdDispatch, |words| words.extend([1, 1, 1]));
                });
            }
            self.commands().end(buffer);
        }
    }

    /// Drops the recording of the command buffer.
    fn reset(&self, buffer: vk::CommandBuffer, keeps_memory: bool) {
        // SAFETY: the command buffer is live, and no other thread uses it.
        unsafe {
            self.commands()
                .reset(buffer, keeps_memory, || self.state().has_unreported_aborts());
        }
    }

    fn finished(&self) -> Option<Arc<Recording>> {
        // SAFETY: the command buffer is live, and not being recorded.
        unsafe { self.commands().finished(vk::CommandBuffer::from_raw(BUFFER)) }
    }

    fn queue(&self) -> &Queue {
        let queue = self.state().queue(self.get(), vk::Queue::from_raw(16));
        queue.expect("a queue")
    }

    /// Notes a submission of the command buffer.
    fn submit(&self) {
        let buffers = [vk::CommandBuffer::from_raw(BUFFER)];
        // SAFETY: the command buffer is live, and not being recorded.
        unsafe { self.commands().note_submission(self.queue(), buffers.into_iter()) };
        self.queue().counters.count_submission(BUFFER);
    }

    fn pending(&self) -> usize {
        self.commands().pending_on(self.queue()).len()
    }
}

#[test]
fn a_command_buffer_that_is_recorded_again_is_not_pending() {
    let device = device();
    assert!(device.finished().is_none(), "nothing is recorded");
    let rounds = if cfg!(miri) { 20 } else { 10_000 };
    for round in 0..rounds {
        device.record(4);
        device.submit();
        // No wait: whether the submission is complete is not known.
        assert_eq!(device.pending(), 1, "in round {round}");
        assert!(device.finished().is_some_and(|recording| recording.bytes() < 256));
    }
}

#[test]
fn recordings_are_freed_with_their_command_buffers() {
    let (buffer, pool) = (vk::CommandBuffer::from_raw(BUFFER), vk::CommandPool::from_raw(POOL));
    let buffers = [buffer];
    type Free<'a> = (&'a str, &'a dyn Fn(&TestDevice));
    let free: [Free<'_>; 4] = [
        ("reset", &|device| device.reset(buffer, false)),
        ("begun again", &|device| device.reset(buffer, true)),
        ("freed", &|device| {
            let has_unreported_aborts = || device.state().has_unreported_aborts();
            device.commands().free(pool, &buffers, has_unreported_aborts);
        }),
        ("pool destroyed", &|device| {
            let has_unreported_aborts = || device.state().has_unreported_aborts();
            device.commands().destroy_pool(pool, has_unreported_aborts);
        }),
    ];
    for (name, free) in free {
        for is_reported in [true, false] {
            let device = device();
            device.record(100);
            device.submit();
            let recording = device
                .finished()
                .map(|recording| Arc::downgrade(&recording))
                .expect("recorded");
            if !is_reported {
                device.state().loss.enter(Phase::Quiescing);
            }
            free(&device);
            assert!(device.finished().is_none(), "{name}");
            assert_eq!(
                recording.upgrade().is_none(),
                is_reported,
                "{name}: kept for the report only"
            );
        }
    }
}

#[test]
fn threads_record_into_command_buffers_of_their_own() {
    let count = if cfg!(miri) { 20 } else { 2000 };
    let commands = CommandBuffers::new(RecordedTable::EMPTY, None);
    let handles = |thread: u64| (1..=8).map(move |index| vk::CommandBuffer::from_raw(thread << 12 | index << 4));
    for thread in 1..=4 {
        commands.add(vk::CommandPool::from_raw(thread), &handles(thread).collect::<Vec<_>>());
    }
    std::thread::scope(|scope| {
        for thread in 1..=4 {
            let commands = &commands;
            scope.spawn(move || {
                for _ in 0..count {
                    for buffer in handles(thread) {
                        // SAFETY: only this thread uses the command buffer.
                        unsafe {
                            commands.record(buffer, |recording| {
                                recording.action(ActionNumber::vkCmdDispatch, |words| words.extend([1, 1, 1]));
                            });
                        }
                    }
                }
                // SAFETY: only this thread uses the command buffers.
                handles(thread).for_each(|buffer| unsafe { commands.end(buffer) });
            });
        }
    });
    for buffer in (1..=4).flat_map(handles) {
        // SAFETY: the command buffer is live, and not being recorded.
        let recording = unsafe { commands.finished(buffer) }.expect("recorded");
        let steps = std::iter::successors(Some(0), |at| Some(recording.step_at(*at)?.1));
        assert_eq!(steps.count() - 1, count);
    }
}
