//! The phases of a device between healthy and lost. The transitions are in `device_loss`.

use crate::sync::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Instant, Mutex, OnceLock, Ordering};
use vkabort_record::message_data::MessageData;

/// Phases of a loss, in order. A device never returns to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// A shader has aborted. Queue operations are still forwarded while the queues drain.
    Quiescing = 1,
    /// Queue operations are no longer forwarded.
    Sealed,
    /// The data of the loss is available, and every command that can fails with `VK_ERROR_DEVICE_LOST`.
    Lost,
}

/// Loss of one device.
#[derive(Default)]
pub struct Loss {
    /// 0 while the device is healthy, then a [`Phase`].
    phase: AtomicU8,
    /// Deadline of the drain in progress. The thread that holds the lock carries the drain on.
    pub drain_deadline: Mutex<Option<Instant>>,
    /// The drain timed out: the driver may still use the device's objects, so none of them may be destroyed.
    pub undrained: AtomicBool,
    /// Set before the device is lost.
    pub data: OnceLock<LossData>,
    /// `on_abort = continue`: end of the records that were reported and are still in the arena, in 16-byte units from the start
    /// of the record area.
    pub reported_units: AtomicU32,
    fault_groups: AtomicU64,
}

/// The remains of a lost device. Set once, so that the answers of fault queries never change.
#[derive(Default)]
pub struct LossData {
    /// All messages.
    pub message_data: MessageData,
    /// The driver's crash dump.
    pub vendor_binary: Vec<u8>,
    /// The reason of the loss, in one line.
    pub text: String,
    /// The driver itself has lost the device.
    pub by_driver: bool,
}

impl Loss {
    fn has_reached(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::Acquire) >= phase as u8
    }

    /// Enters a phase. The caller holds the drain's lock.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// An abort or a loss by the driver was detected.
    pub fn has_begun(&self) -> bool {
        self.has_reached(Phase::Quiescing)
    }

    /// Queue operations are no longer forwarded.
    pub fn is_sealed(&self) -> bool {
        self.has_reached(Phase::Sealed)
    }

    /// The device is lost and the data of the loss is available.
    pub fn is_lost(&self) -> bool {
        self.has_reached(Phase::Lost)
    }

    /// The next `VkDeviceFaultInfoKHR::groupID`, counting from 1.
    pub fn next_fault_group(&self) -> u64 {
        self.fault_groups.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_includes_the_earlier_ones() {
        let loss = Loss::default();
        let reached = || [loss.has_begun(), loss.is_sealed(), loss.is_lost()];
        assert_eq!(reached(), [false, false, false]);
        loss.enter(Phase::Quiescing);
        assert_eq!(reached(), [true, false, false]);
        loss.enter(Phase::Sealed);
        assert_eq!(reached(), [true, true, false]);
        loss.enter(Phase::Lost);
        assert_eq!(reached(), [true, true, true]);
    }
}
