//! The time that a command may wait for a loss in progress.

use crate::sync::Instant;
use std::time::Duration;

/// Time for the queues to drain before a command that reports completed work returns.
const GRACE: Duration = Duration::from_millis(100);

/// The time that a command may wait for the drain.
#[derive(Clone, Copy, Debug)]
pub enum DrainBudget {
    /// Checks once.
    Poll,
    /// 100 ms, for a command that reports completed work.
    Grace,
    /// Until a point in time.
    Until(Instant),
    /// As long as the drain takes.
    Drain,
}

impl DrainBudget {
    /// When the budget is used up. `None`: never.
    pub fn deadline(self) -> Option<Instant> {
        match self {
            Self::Poll => Some(Instant::now()),
            Self::Grace => Some(Instant::now() + GRACE),
            Self::Until(at) => Some(at),
            Self::Drain => None,
        }
    }
}
