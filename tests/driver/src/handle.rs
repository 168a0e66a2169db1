//! Handles: pointers to boxed objects, and plain numbers for objects without state.
//!
//! Commands declare references where the API has handles of live objects and pointers to single structures: both are
//! non-null and valid by the commands' valid usage, and a handle is the address of its object. Parameters that may be null
//! are options, numbers or pointers.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

/// A parameter that a command writes.
pub type Out<'a, T> = &'a mut MaybeUninit<T>;
/// Host memory callbacks, which the driver ignores.
pub type Allocator = *const c_void;

/// `ICD_LOADER_MAGIC`: value of a dispatchable object's first word, which the loader replaces by its own pointer.
pub const LOADER_MAGIC: usize = 0x01CD_C0DE;

/// Number of live boxed objects in the process.
static LIVE: AtomicU64 = AtomicU64::new(0);
/// Next handle of an object without state. Odd, so that it never equals a box's address.
static NEXT_TOKEN: AtomicU64 = AtomicU64::new(1);

/// Boxes an object and returns its handle.
pub fn create<T>(object: T) -> u64 {
    LIVE.fetch_add(1, Ordering::Relaxed);
    Box::into_raw(Box::new(object)) as u64
}

/// Object behind a handle.
///
/// # Safety
/// `handle` must be null or a handle from [`create`] with this type that was not taken.
pub unsafe fn get<'a, T>(handle: u64) -> Option<&'a T> {
    // SAFETY: the caller passes null or the address of a live boxed `T`.
    unsafe { (handle as *const T).as_ref() }
}

/// Unboxes an object.
///
/// # Safety
/// Same as [`get`]; in addition, no other reference to the object may be in use.
pub unsafe fn take<T>(handle: u64) -> Option<T> {
    if handle == 0 {
        return None;
    }
    LIVE.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: `create` boxed the object as a `T`, and the caller holds the only reference.
    Some(*unsafe { Box::from_raw(handle as *mut T) })
}

/// Number of live boxed objects. Reveals leaks, and frees of objects that had to leak.
pub fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// Handle of an object without state.
pub fn token() -> u64 {
    NEXT_TOKEN.fetch_add(2, Ordering::Relaxed)
}
