//! Mutex helpers: lock, try-lock, and lock with a deadline.
//!
//! A panic inside an entry point becomes an error code there, so a poisoned mutex still holds usable data.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Pause between attempts to lock a mutex that a blocking call of the application holds.
pub const RETRY: Duration = Duration::from_micros(100);

/// Locks a mutex.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex, or returns `None` while another thread holds it.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Locks a mutex, and gives up at `limit` if there is one.
pub fn lock_until<T>(mutex: &Mutex<T>, limit: Option<Instant>) -> Option<MutexGuard<'_, T>> {
    let Some(limit) = limit else {
        return Some(lock(mutex));
    };
    loop {
        if let Some(guard) = try_lock(mutex) {
            return Some(guard);
        }
        let left = limit.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        std::thread::sleep(left.min(RETRY));
    }
}
