//! The fences and timeline semaphores that signal behind a queue's submissions: a successful wait for one covers every submission
//! before it.
//!
//! Vulkan, "Fences" and "Semaphore Signaling": the first synchronization scope of a signal operation of `vkQueueSubmit` includes
//! all commands that occur earlier in submission order. Entries of objects that were reset or destroyed do no harm: their
//! submissions had completed.

use crate::locks::lock;
use crate::sync::Mutex;
use ash::vk;
use std::collections::VecDeque;

/// Most entries: those of several frames. A wait for a forgotten one covers nothing.
const MAX_SIGNALS: usize = 64;

/// An event that a submission signals, and that a wait waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A fence.
    Fence(vk::Fence),
    /// A timeline semaphore reaches a value.
    Timeline(vk::Semaphore, u64),
}

impl Signal {
    /// Whether it has happened if `waited` has.
    fn is_covered_by(self, waited: Self) -> bool {
        match (self, waited) {
            (Self::Timeline(semaphore, value), Self::Timeline(of, reached)) => semaphore == of && value <= reached,
            _ => self == waited,
        }
    }
}

/// The last signals of a device's submissions. A submission and a wait take one lock each, which is contended only if threads
/// submit to several queues at once.
#[derive(Default)]
pub struct CompletionSignals(Mutex<VecDeque<Entry>>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    signal: Signal,
    queue: vk::Queue,
    submitted: u64,
}

impl CompletionSignals {
    /// Notes a signal behind the first `submitted` submissions to a queue.
    pub fn note(&self, signal: Signal, queue: vk::Queue, submitted: u64) {
        let entries = &mut *lock(&self.0);
        if entries.len() == MAX_SIGNALS {
            entries.pop_front();
        }
        entries.push_back(Entry {
            signal,
            queue,
            submitted,
        });
    }

    /// Notes a signal of `vkQueueBindSparse`. It waits for no command, only for "any semaphore and fence signal operations that
    /// occur earlier in signal operation order" (Vulkan, "Fences"), so it covers the same submissions as the last of these.
    pub fn note_behind_signals(&self, signal: Signal, queue: vk::Queue) {
        let last = lock(&self.0).iter().rfind(|entry| entry.queue == queue).copied();
        if let Some(last) = last {
            self.note(signal, queue, last.submitted);
        }
    }

    /// For each queue, the number of its first submissions that have completed when all of `waited` have happened. A queue may
    /// occur several times.
    pub fn covered(&self, waited: impl Iterator<Item = Signal> + Clone) -> Vec<(vk::Queue, u64)> {
        let entries = &*lock(&self.0);
        let is_covered = |entry: &&Entry| waited.clone().any(|waited| entry.signal.is_covered_by(waited));
        let covered = entries.iter().filter(is_covered);
        covered.map(|entry| (entry.queue, entry.submitted)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle as _;

    #[test]
    fn a_wait_covers_what_was_submitted_before_its_signal() {
        let signals = CompletionSignals::default();
        let [a, b] = [1, 2].map(vk::Queue::from_raw);
        // Handles of objects of different types may be equal.
        let (fence, semaphore) = (vk::Fence::from_raw(7), vk::Semaphore::from_raw(7));
        let covered = |waited: &[Signal]| signals.covered(waited.iter().copied());
        signals.note(Signal::Fence(fence), a, 3);
        signals.note(Signal::Timeline(semaphore, 10), b, 1);
        signals.note(Signal::Timeline(semaphore, 20), b, 2);
        assert_eq!(covered(&[Signal::Fence(fence)]), [(a, 3)]);
        assert_eq!(covered(&[Signal::Timeline(semaphore, 9)]), []);
        assert_eq!(covered(&[Signal::Timeline(semaphore, 15)]), [(b, 1)]);
        assert_eq!(covered(&[Signal::Timeline(semaphore, 20)]), [(b, 1), (b, 2)]);
        assert_eq!(
            covered(&[Signal::Timeline(semaphore, 10), Signal::Fence(fence)]),
            [(a, 3), (b, 1)]
        );
        assert_eq!(covered(&[Signal::Fence(vk::Fence::from_raw(8))]), []);
    }

    #[test]
    fn old_signals_are_forgotten() {
        let signals = CompletionSignals::default();
        let queue = vk::Queue::from_raw(1);
        for number in 1..=1000 {
            signals.note(Signal::Fence(vk::Fence::from_raw(number)), queue, number);
        }
        let covered = |number| signals.covered([Signal::Fence(vk::Fence::from_raw(number))].into_iter());
        assert_eq!(covered(900), []);
        assert_eq!(covered(999), [(queue, 999)]);
        assert_eq!(lock(&signals.0).len(), MAX_SIGNALS);
    }
}
