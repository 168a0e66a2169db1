//! Mutexes for which nobody waits longer than he can.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use crate::device_loss::RETRY;

/// Locks a mutex, if nobody has it.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Locks a mutex by `limit`, or without one for as long as it takes.
pub fn lock_until<T>(mutex: &Mutex<T>, limit: Option<Instant>) -> Option<MutexGuard<'_, T>> {
    let Some(limit) = limit else {
        return Some(mutex.lock().unwrap_or_else(PoisonError::into_inner));
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
