//! Declaration of a case, and the environment variables that the parent of its process passes.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
pub use vkabort_runner::{Case, Context, Layers, Schedule, Skip, cases};

/// Environment variable with a process's share of long lists of inputs: `1/3` is the second third. Default: all inputs.
pub const SHARE: &str = "VKABORT_SHARE";
/// Environment variable with the seconds after which no further input of such a list is started. Default: no limit.
pub const SECONDS: &str = "VKABORT_SECONDS";

/// Environment variables with the number of random programs of each kind, the seed of a single one, the checks that it has, and
/// whether fewer run by default.
pub const PROGRAMS: [&str; 4] = [
    "VKABORT_PROGRAM_SEEDS",
    "VKABORT_PROGRAM_SEED",
    "VKABORT_PROGRAM_CHECKS",
    "VKABORT_QUARTER_OF_PROGRAMS",
];

/// Environment variable with a program, and its arguments, that runs the program of each case: `valgrind --quiet`.
pub const RUNNER: &str = "VKABORT_RUNNER";

/// Whether the process ends with a device by design, which a check for leaks asks.
pub static LEAKS: AtomicBool = AtomicBool::new(false);

/// The seconds of [`SECONDS`].
pub fn seconds() -> Option<u64> {
    std::env::var(SECONDS).ok()?.parse().ok()
}

/// Whether those seconds have passed since `start`.
pub fn is_over(start: Instant) -> bool {
    seconds().is_some_and(|seconds| start.elapsed() >= Duration::from_secs(seconds))
}

/// Factor of time limits: more than 1 under a [`RUNNER`].
pub fn slowdown() -> u32 {
    match std::env::var_os(RUNNER) {
        Some(_) => 20,
        None => 1,
    }
}
