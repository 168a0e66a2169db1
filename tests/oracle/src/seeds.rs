//! The seeds that tests of random modules and programs run.

use std::ops::Range;
use std::time::{Duration, Instant};

/// Environment variables of the tests of random modules.
const MODULES: Variables = Variables {
    count: "VKABORT_ORACLE_SEEDS",
    first: "VKABORT_ORACLE_SEED",
};
/// Environment variables of the tests of random programs.
const PROGRAMS: Variables = Variables {
    count: "VKABORT_PROGRAM_SEEDS",
    first: "VKABORT_PROGRAM_SEED",
};
/// Environment variable with the time to run: as many modules as fit into it, from the first one on.
const MINUTES: &str = "VKABORT_ORACLE_MINUTES";
/// Environment variable that `cargo xtask test` sets outside CI: a quarter of the programs, which drivers compile.
const QUARTER: &str = "VKABORT_QUARTER_OF_PROGRAMS";

struct Variables {
    /// The number of seeds to run.
    count: &'static str,
    /// The only seed to run.
    first: &'static str,
}

impl Variables {
    fn range(&self, few: u64) -> Range<u64> {
        match number(self.first) {
            Some(seed) => seed..seed + 1,
            None => 0..number(self.count).unwrap_or(few),
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Whether a quarter of the programs is to run.
pub fn is_quarter() -> bool {
    std::env::var_os(QUARTER).is_some()
}

/// Seeds of modules to run: by default, the first `few`.
pub fn seeds(few: u64) -> impl Iterator<Item = u64> {
    let minutes = number(MINUTES);
    let seeds = match minutes {
        Some(_) => number(MODULES.first).unwrap_or(0)..u64::MAX,
        None => MODULES.range(few),
    };
    let (start, limit) = (Instant::now(), minutes.map(|minutes| Duration::from_secs(60 * minutes)));
    seeds.take_while(move |_| limit.is_none_or(|limit| start.elapsed() < limit))
}

/// Whether a single module runs, of which statistics say nothing.
pub fn is_single() -> bool {
    number(MODULES.first).is_some() && number(MINUTES).is_none()
}

/// Seeds of programs to run: by default, the first `few`, or a quarter of them.
pub fn program_seeds(few: u64) -> Range<u64> {
    PROGRAMS.range(if is_quarter() { few.div_ceil(4) } else { few })
}

/// Whether a single program runs.
pub fn is_single_program() -> bool {
    number(PROGRAMS.first).is_some()
}
