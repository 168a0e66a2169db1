//! Mutex helpers: lock, try-lock, and lock with a deadline. Poisoning is ignored: a panic inside an entry point has already
//! become an error code there, and the data is still the best that the layer has.

use crate::sync::{Instant, Mutex, MutexGuard, sleep};
use std::sync::{PoisonError, TryLockError};
use std::time::Duration;

/// Pause between two attempts at a mutex that a blocking call of the application holds.
pub const RETRY: Duration = Duration::from_micros(100);

/// Locks a mutex.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a mutex if it is free.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Locks a mutex before `deadline`. Without a deadline, waits for as long as it takes.
pub fn lock_until<T>(mutex: &Mutex<T>, deadline: Option<Instant>) -> Option<MutexGuard<'_, T>> {
    let Some(deadline) = deadline else {
        return Some(lock(mutex));
    };
    loop {
        if let Some(guard) = try_lock(mutex) {
            return Some(guard);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        sleep(left.min(RETRY));
    }
}
