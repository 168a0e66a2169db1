//! The clock of the check of loops: a thread that advances TICKS (`vkabort_record::layout`) while work may be pending whose loops
//! read it.
//!
//! The thread is started by a submission and ends once waits have covered all submissions. A device without such modules has none.
//! It does not make up for time that it has slept, so a process that was stopped continues where it was. On a CPU driver it counts
//! the processor time of the process's busiest thread, since in a loaded machine an ordinary dispatch takes any length of real time.

use crate::arena::Arena;
use crate::device::state::Queue;
use crate::locks::lock;
use crate::log::{Level, Log};
use crate::os;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use vkabort_instrument::Options;
use vkabort_record::layout::TIMEOUT_TICKS;

/// The clock of a device.
pub struct LoopClock {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    ticks: Ticks,
    period: Duration,
    /// The driver runs on the CPU.
    is_cpu: bool,
    /// A module reads TICKS.
    is_enabled: AtomicBool,
    is_running: AtomicBool,
    /// The queues that were submitted to.
    queues: Mutex<Vec<Arc<Queue>>>,
    is_stopped: Mutex<bool>,
    stop: Condvar,
}

/// The word TICKS of an arena.
struct Ticks(NonNull<AtomicU32>);

// SAFETY: the word is accessed as an atomic only, and the thread that does so ends before its arena (`LoopClock::stop`).
unsafe impl Send for Ticks {}
// SAFETY: as for `Send`.
unsafe impl Sync for Ticks {}

impl LoopClock {
    /// The clock of a new device with this arena, which must outlive [`Self::stop`]. `None`: its loops have no timeout.
    pub fn create(arena: &Arena, options: &Options, is_cpu: bool) -> Option<Self> {
        let timeout = options.sanitize.loop_timeout?;
        let timeout = Duration::from_millis(timeout.milliseconds.into());
        (!options.sanitize.checks.is_empty()).then(|| Self::of_word(arena.ticks(), timeout, is_cpu))
    }

    fn of_word(ticks: &AtomicU32, timeout: Duration, is_cpu: bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                ticks: Ticks(NonNull::from(ticks)),
                period: (timeout / TIMEOUT_TICKS).max(Duration::from_millis(1)),
                is_cpu,
                is_enabled: AtomicBool::new(false),
                is_running: AtomicBool::new(false),
                queues: Mutex::default(),
                is_stopped: Mutex::new(false),
                stop: Condvar::new(),
            }),
            thread: Mutex::new(None),
        }
    }

    /// Lets submissions start the clock from now on: a module reads TICKS.
    pub fn enable(&self) {
        self.shared.is_enabled.store(true, Ordering::Relaxed);
    }

    /// Starts the thread if it is not running. Called once a submission to `queue` has been counted.
    pub fn start(&self, queue: impl FnOnce() -> Option<Arc<Queue>>, log: &Log) {
        let shared = &self.shared;
        if !shared.is_enabled.load(Ordering::Relaxed) {
            return;
        }
        if let Some(queue) = queue() {
            let mut queues = lock(&shared.queues);
            if !queues.iter().any(|other| Arc::ptr_eq(other, &queue)) {
                queues.push(queue);
            }
        }
        // Either the thread sees the submission before it ends, or this sees that it ends.
        fence(Ordering::SeqCst);
        if shared.is_running.load(Ordering::Relaxed) || shared.is_running.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut thread = lock(&self.thread);
        if *lock(&shared.is_stopped) {
            return;
        }
        if let Some(ended) = thread.take() {
            let _ = ended.join();
        }
        let copy = Arc::clone(shared);
        match Builder::new()
            .name("vkabort clock".to_owned())
            .spawn(move || copy.run())
        {
            Ok(new) => *thread = Some(new),
            Err(error) => {
                let text = format!("loop_timeout_ms has no effect: no thread can be created: {error}");
                log.line(Level::Warning, &text);
            }
        }
    }

    /// Ends the thread.
    pub fn stop(&self) {
        *lock(&self.shared.is_stopped) = true;
        self.shared.stop.notify_all();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut meter = self.is_cpu.then(CpuMeter::default);
        loop {
            let stopped = lock(&self.is_stopped);
            let wait = self.stop.wait_timeout_while(stopped, self.period, |stopped| !*stopped);
            if *wait.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
            if meter.as_mut().is_none_or(|meter| meter.has_run(self.period)) {
                // SAFETY: `stop` ends this thread before the arena is destroyed (the contract of `new`).
                unsafe { self.ticks.0.as_ref() }.fetch_add(1, Ordering::Relaxed);
            }
            if self.has_pending_work() {
                continue;
            }
            self.is_running.store(false, Ordering::Release);
            fence(Ordering::SeqCst);
            // A submission that has come meanwhile either sees the store, or is seen here.
            if !self.has_pending_work() || self.is_running.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }

    fn has_pending_work(&self) -> bool {
        lock(&self.queues)
            .iter()
            .any(|queue| queue.counters.has_open_submissions())
    }
}

/// Measures the processor time of the busiest thread of the process.
#[derive(Default)]
struct CpuMeter {
    /// By thread, at the last tick.
    before: HashMap<u64, Duration>,
}

impl CpuMeter {
    /// Whether some thread has run for about `period` since this was last true, or the first call. True where the system does not
    /// tell.
    fn has_run(&mut self, period: Duration) -> bool {
        let now = os::thread_times();
        if now.is_empty() {
            return true;
        }
        let since = |(thread, time): (&u64, &Duration)| {
            let before = self.before.get(thread).copied().unwrap_or_default();
            time.saturating_sub(before)
        };
        // The system counts a little late.
        let has_run = !self.before.is_empty() && now.iter().map(since).max().unwrap_or_default() >= period * 7 / 8;
        if has_run || self.before.is_empty() {
            self.before = now;
        }
        has_run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intercept::testing::TestDevice;
    use crate::loader::dispatch::DeviceTable;
    use ash::vk::{self, Handle as _};
    use std::time::Instant;

    const LIMIT: Duration = Duration::from_secs(60);

    /// Whether a condition comes true within the limit.
    fn happens(condition: impl Fn() -> bool) -> bool {
        let begin = Instant::now();
        while begin.elapsed() < LIMIT {
            if condition() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    #[test]
    fn it_ticks_while_a_submission_is_open() {
        let device = TestDevice::new(DeviceTable::EMPTY);
        let (state, log) = (device.state(), &device.get().instance.log);
        let word = AtomicU32::new(0);
        let ticks = || word.load(Ordering::Relaxed);
        let clock = LoopClock::of_word(&word, Duration::from_millis(16), false);
        let is_running = || clock.shared.is_running.load(Ordering::Relaxed);
        let queue = vk::Queue::from_raw(16);
        let submit = || {
            state.count_submission(device.get(), queue, 0);
            clock.start(|| state.queues.share(queue.as_raw() as usize), log);
        };
        submit();
        assert!(!is_running(), "no module reads TICKS");
        clock.enable();
        for _ in 0..3 {
            submit();
            let before = ticks();
            assert!(happens(|| ticks() > before + 3));
            let counters = &state.queue(device.get(), queue).expect("a queue").counters;
            counters.mark_completed(counters.submitted());
            assert!(happens(|| !is_running()), "the thread runs without work");
        }
        submit();
        clock.stop();
        let after = ticks();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(ticks(), after, "it ticks after its end");
        submit();
        assert_eq!(ticks(), after);
    }

    #[test]
    fn the_time_of_a_thread_that_computes_counts() {
        if os::thread_times().is_empty() {
            return;
        }
        let period = Duration::from_millis(20);
        let mut meter = CpuMeter::default();
        assert!(!meter.has_run(period), "the first look");
        let begin = Instant::now();
        while begin.elapsed() < LIMIT && !meter.has_run(period) {
            std::hint::black_box(begin);
        }
        assert!(begin.elapsed() < LIMIT, "no thread has run for 20 ms");
    }

    #[test]
    fn time_that_no_thread_has_run_does_not_count() {
        let mut meter = CpuMeter::default();
        let long = Duration::from_secs(100_000);
        assert!(os::thread_times().is_empty() || (0..3).all(|_| !meter.has_run(long)));
    }
}
