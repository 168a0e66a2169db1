//! The time of a part: what is begun gets what is left of it, and towards the end nothing is begun any more, so that the
//! part ends by itself and says what it has not done.

use std::time::{Duration, Instant};

/// What a single thing of a part may take, if it says nothing itself: others have to come too.
const EACH: Duration = Duration::from_secs(25);
/// What is kept for the end of the part.
const END: Duration = Duration::from_secs(2);

/// Why something was not begun.
pub const OUT_OF_TIME: &str = "not begun: the part's time was over";

/// The time of a part.
pub struct TimeBudget {
    start: Instant,
    limit: Duration,
}

impl TimeBudget {
    /// It begins now.
    pub fn new(limit: Duration) -> Self {
        Self {
            start: Instant::now(),
            limit,
        }
    }

    /// How long something may take that would take so long at most; nothing, if it should not be begun any more.
    pub fn share(&self, most: Duration) -> Option<Duration> {
        let left = self.limit.saturating_sub(self.start.elapsed()).saturating_sub(END);
        (left > self.limit / 6).then(|| left.min(most).min(EACH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_begun_towards_the_end() {
        let budget = |limit| TimeBudget::new(Duration::from_secs(limit));
        assert_eq!(budget(60).share(Duration::from_secs(600)), Some(EACH));
        assert_eq!(budget(60).share(Duration::from_secs(3)), Some(Duration::from_secs(3)));
        assert!(
            budget(10)
                .share(EACH)
                .is_some_and(|share| share < Duration::from_secs(8))
        );
        assert_eq!(budget(2).share(EACH), None);
    }
}
