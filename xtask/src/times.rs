//! Times of the steps of a command.

use anyhow::Result;
use std::fs;
use std::time::{Duration, Instant};

/// Wall and processor time of each step.
#[derive(Default)]
pub struct Times(Vec<(&'static str, Duration, Duration)>);

impl Times {
    /// Runs a step and adds its times.
    ///
    /// # Errors
    ///
    /// The step's.
    pub fn measure<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n== {name}");
        let (start, used) = (Instant::now(), processor_time());
        let result = step();
        self.0
            .push((name, start.elapsed(), processor_time().saturating_sub(used)));
        result
    }

    /// Prints a line for each step, and their sum.
    pub fn print(&self) {
        println!("{:>9} {:>11}", "wall", "processor");
        let all: Duration = self.0.iter().map(|(_, wall, _)| *wall).sum();
        let processor: Duration = self.0.iter().map(|(.., processor)| *processor).sum();
        for (name, wall, processor) in self.0.iter().copied().chain([("in all", all, processor)]) {
            println!(
                "{:>7.1} s {:>9.1} s  {name}",
                wall.as_secs_f64(),
                processor.as_secs_f64()
            );
        }
    }
}

/// User and system time of this process's children that have ended, and of their children. Zero where procfs is missing.
pub fn processor_time() -> Duration {
    /// `sysconf(_SC_CLK_TCK)` on Linux.
    const TICKS_PER_SECOND: u64 = 100;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // proc(5): the second field, in parentheses, may contain spaces. `cutime` and `cstime` are fields 16 and 17.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: u64 = fields
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}
