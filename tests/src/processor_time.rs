//! Processor time of this process.

use std::time::Duration;

/// Processor time of this process, all threads. Zero on systems other than Unix.
pub fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the structure is valid for writes.
        unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
        let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
        Duration::new(seconds.unwrap_or_default(), nanoseconds.unwrap_or_default())
    }
    #[cfg(not(unix))]
    Duration::ZERO
}
