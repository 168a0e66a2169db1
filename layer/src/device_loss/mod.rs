//! The loss of a device: healthy -> quiescing -> sealed -> lost, one way.
//!
//! The driver's device is healthy; only the application's view of it changes. So the queues must be idle before the
//! application learns of the loss and destroys what they use.
//!
//! * *quiescing*: an abort was detected. Queue operations are still forwarded, so that work which waits for them can
//!   complete. A submission that began before the detection returns the driver's result; each later operation waits for
//!   the loss. A drain submits a fence to every queue, behind all its work.
//! * *sealed*: all fences have signalled, or the drain timed out. Queue operations are no longer forwarded. One thread takes
//!   the snapshot and delivers the report.
//! * *lost*: every command that can returns `VK_ERROR_DEVICE_LOST` (Vulkan specification, "Lost Device").
//!
//! The drain is resumable: a caller whose [`DrainBudget`] is used up returns, and another thread continues. Lock order: the
//! drain's lock, then a queue's. A thread that holds a queue's lock never waits for the drain's lock.
//!
//! Cost on a healthy device: two loads of host memory per command, the phase and the arena's ABORTED word.

mod advance;
mod drain;
mod drain_budget;
mod observe;
mod suspect_queues;

pub use drain_budget::DrainBudget;
pub use suspect_queues::WaitMark;

use std::time::Duration;

/// Longest wait that is passed to the driver in one call. Longer waits are sliced, with a check for aborts in between.
pub const SLICE: Duration = Duration::from_millis(10);
