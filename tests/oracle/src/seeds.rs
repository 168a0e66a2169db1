//! The seeds that the tests of random modules run.

use std::time::{Duration, Instant};

/// Environment variable with the number of seeds to run.
const COUNT: &str = "VKABORT_ORACLE_SEEDS";
/// Environment variable with the only seed to run, or with [`MINUTES`] the first one.
const FIRST: &str = "VKABORT_ORACLE_SEED";
/// Environment variable with the time to run: as many seeds as fit into it.
const MINUTES: &str = "VKABORT_ORACLE_MINUTES";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Seeds to run: by default, the first `few`.
pub fn seeds(few: u64) -> impl Iterator<Item = u64> {
    let minutes = number(MINUTES);
    let seeds = match (number(FIRST), minutes) {
        (first, Some(_)) => first.unwrap_or(0)..u64::MAX,
        (Some(seed), None) => seed..seed + 1,
        (None, None) => 0..number(COUNT).unwrap_or(few),
    };
    let (start, limit) = (Instant::now(), minutes.map(|minutes| Duration::from_secs(60 * minutes)));
    seeds.take_while(move |_| limit.is_none_or(|limit| start.elapsed() < limit))
}

/// Whether a single seed runs, of which statistics say nothing.
pub fn is_single() -> bool {
    number(FIRST).is_some() && number(MINUTES).is_none()
}
