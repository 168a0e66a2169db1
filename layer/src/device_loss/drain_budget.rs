//! How long a command waits for a loss that has begun.

use std::time::{Duration, Instant};

/// What a command that was told of completed work may wait for the queues to come to rest.
const GRACE: Duration = Duration::from_millis(100);

/// How long a command may be kept to bring a loss to its end.
#[derive(Clone, Copy, Debug)]
pub enum DrainBudget {
    /// One look.
    Poll,
    /// A short while: the command reports completed work.
    Grace,
    /// Until then.
    Until(Instant),
    /// As long as the drain takes.
    Drain,
}

impl DrainBudget {
    /// Until when, if not for ever.
    pub fn limit(self) -> Option<Instant> {
        match self {
            Self::Poll => Some(Instant::now()),
            Self::Grace => Some(Instant::now() + GRACE),
            Self::Until(at) => Some(at),
            Self::Drain => None,
        }
    }
}
