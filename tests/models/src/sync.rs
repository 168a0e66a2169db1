//! loom's primitives under the names of `layer/src/sync.rs`, and a clock that is the same in every run of a model.

pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::cell::UnsafeCell;
use std::ops::{Add, Sub};
use std::time::Duration;

/// Few, so that few keys collide and fill a segment.
pub const SLOTS: usize = 2;

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

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
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

/// A cell that is written once. loom has none; like the standard library's, a reader that finds a value is ordered after
/// its construction.
pub struct OnceLock<T> {
    is_set: AtomicBool,
    writers: Mutex<()>,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, under the lock, before `is_set`, and read only after it.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> OnceLock<T> {
    /// An empty cell.
    pub fn new() -> Self {
        Self {
            is_set: AtomicBool::new(false),
            writers: Mutex::new(()),
            value: UnsafeCell::new(None),
        }
    }

    /// The value, if it is set.
    pub fn get(&self) -> Option<&T> {
        let is_set = self.is_set.load(Ordering::Acquire);
        // SAFETY: nothing writes a value that is set.
        is_set.then(|| unsafe { (*self.value.get()).as_ref() }).flatten()
    }

    /// Sets the value.
    ///
    /// # Errors
    ///
    /// The cell has a value. Returns the new one.
    pub fn set(&self, value: T) -> Result<(), T> {
        let _writing = self.writers.lock();
        if self.get().is_some() {
            return Err(value);
        }
        // SAFETY: the lock is held, and no reader has a value that is not set.
        unsafe { *self.value.get() = Some(value) };
        self.is_set.store(true, Ordering::Release);
        Ok(())
    }
}
