//! Handles: pointers to boxed objects, and numbers where there is nothing to remember.

use std::sync::atomic::{AtomicU64, Ordering};

/// `ICD_LOADER_MAGIC`: what the loader expects in the first word of a dispatchable object, and puts its own pointer into.
pub const LOADER_MAGIC: usize = 0x01CD_C0DE;

/// Live objects of the process that are boxed.
static LIVE: AtomicU64 = AtomicU64::new(0);
/// Handles of objects about which nothing is remembered: odd, so that none is ever a box's address.
static NEXT_TOKEN: AtomicU64 = AtomicU64::new(1);

/// Boxes an object. Its handle.
pub fn make<T>(object: T) -> u64 {
    LIVE.fetch_add(1, Ordering::Relaxed);
    Box::into_raw(Box::new(object)) as u64
}

/// The object behind a handle.
///
/// # Safety
/// The handle must be from [`make`] with this type and not yet taken; or null.
pub unsafe fn get<'a, T>(handle: u64) -> Option<&'a T> {
    // SAFETY: the caller vouches for the handle.
    unsafe { (handle as *const T).as_ref() }
}

/// Takes an object back.
///
/// # Safety
/// As [`get`], and nobody may use the object any more.
pub unsafe fn take<T>(handle: u64) -> Option<T> {
    if handle == 0 {
        return None;
    }
    LIVE.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: the caller vouches for the handle.
    Some(*unsafe { Box::from_raw(handle as *mut T) })
}

/// Takes an object back and forgets it.
///
/// # Safety
/// As [`take`].
pub unsafe fn destroy<T>(handle: u64) {
    // SAFETY: the caller vouches for the handle.
    let _ = unsafe { take::<T>(handle) };
}

/// How many boxed objects there are: a leak, or something freed that should have been leaked, shows here.
pub fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// A handle with nothing behind it.
pub fn token() -> u64 {
    NEXT_TOKEN.fetch_add(2, Ordering::Relaxed)
}
