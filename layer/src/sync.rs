//! The synchronization primitives of the code that `tests/models` checks. The models compile the same files with the
//! primitives of loom, which has every interleaving of the threads and every result of a relaxed load.

pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
pub use std::thread::sleep;
pub use std::time::Instant;

/// Slots of a segment of the map of handles.
pub const SLOTS: usize = 64;

/// Makes a constructor `const`. Those of loom's primitives are not.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis fn $($rest:tt)*) => {
        $(#[$attribute])* $visibility const fn $($rest)*
    };
}

/// An array whose elements are all constructed by the same expression.
macro_rules! array {
    ($element:expr; $length:expr) => {
        [const { $element }; $length]
    };
}

pub(crate) use {array, const_fn};
