//! Time budget of a part. Near the limit no test starts, so that the part ends by itself and reports the skipped tests.

use std::time::{Duration, Instant};

/// Longest share of one test, so that the others get time too.
const EACH: Duration = Duration::from_secs(25);
/// Reserved for the end of the part.
const END: Duration = Duration::from_secs(2);

/// Reason for a skipped test.
pub const OUT_OF_TIME: &str = "not started: the part's time limit was near";

/// Time budget of a part.
pub struct TimeBudget {
    start: Instant,
    limit: Duration,
}

impl TimeBudget {
    /// Starts the budget now.
    pub fn new(limit: Duration) -> Self {
        Self {
            start: Instant::now(),
            limit,
        }
    }

    /// Time limit for a test that needs at most `most`. None if it must not start.
    pub fn share(&self, most: Duration) -> Option<Duration> {
        let left = self.limit.saturating_sub(self.start.elapsed()).saturating_sub(END);
        (left > self.limit / 6).then(|| left.min(most).min(EACH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_test_starts_near_the_limit() {
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
