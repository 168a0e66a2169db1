//! loom's primitives under the names of `layer/src/sync.rs`, and a clock that is the same in every run of a model.

pub use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
pub use loom::sync::{Arc, Mutex, MutexGuard};
use std::ops::Add;
use std::time::Duration;

/// loom's primitives have no `const` constructors.
macro_rules! const_fn {
    ($($function:tt)*) => { $($function)* };
}

/// An array whose elements are all constructed by the same expression.
macro_rules! array {
    ($element:expr; $length:expr) => {
        std::array::from_fn::<_, { $length }, _>(|_| $element)
    };
}

pub(crate) use {array, const_fn};

loom::lazy_static! {
    /// Nanoseconds since the begin of this run of the model. Not a primitive of loom: reading it is not a point at which
    /// threads are switched.
    static ref NOW: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
}

/// A point in the time of a model, which passes only while a thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

impl Instant {
    /// The current time.
    pub fn now() -> Self {
        Self(Duration::from_nanos(NOW.load(Ordering::Relaxed)))
    }

    /// The time from `earlier` to this point, or zero.
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

/// Lets the time pass, and other threads run.
pub fn sleep(duration: Duration) {
    NOW.fetch_add(
        u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
        Ordering::Relaxed,
    );
    loom::thread::yield_now();
}
