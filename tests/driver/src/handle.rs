//! Handles: pointers to boxed objects, and plain numbers for objects without state.
//!
//! Commands declare references where the API has dispatchable handles of live objects and pointers to single structures, and
//! [`Object`] for other handles: all are non-null and valid by the commands' valid usage, and a handle is the address of its object.
//! Parameters that may be null are options, numbers or pointers.

use ash::vk;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A parameter that a command writes.
pub type Out<'a, T> = &'a mut MaybeUninit<T>;
/// Host memory callbacks. The driver allocates a token of each object with them, so that they can refuse it.
pub type Allocator<'a> = Option<&'a vk::AllocationCallbacks<'a>>;

/// A handle of a live object that is not dispatchable: 64 bits, also where pointers have 32.
#[repr(transparent)]
pub struct Object<'a, T>(NonZeroU64, PhantomData<&'a T>);

impl<T> Object<'_, T> {
    /// The object of a handle.
    ///
    /// # Safety
    /// As [`get`].
    pub unsafe fn of(handle: u64) -> Option<Self> {
        Some(Self(NonZeroU64::new(handle)?, PhantomData))
    }
}

impl<T> Deref for Object<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: by the valid usage of every command, the handle is that of a live object, which `create` boxed as a `T`.
        unsafe { &*(self.0.get() as *const T) }
    }
}

/// The type of a handle: 64 bits, or for a dispatchable one those of a pointer.
pub trait Handle {
    /// The handle of this object.
    fn of(object: u64) -> Self;
}

impl Handle for u64 {
    fn of(object: u64) -> Self {
        object
    }
}

impl Handle for usize {
    fn of(object: u64) -> Self {
        object as usize
    }
}

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

/// Objects that were destroyed with callbacks and created without, or the other way round.
static MISMATCHES: AtomicU64 = AtomicU64::new(0);
/// The application's allocations, by the object's handle.
static ALLOCATIONS: LazyLock<Mutex<HashMap<u64, u64>>> = LazyLock::new(Mutex::default);

/// Boxes an object, and writes its handle. Fails if the application's callbacks return no memory.
pub fn create_with<T>(allocator: Allocator<'_>, out: Out<'_, impl Handle>, object: T) -> vk::Result {
    let mut memory = std::ptr::null_mut();
    if let Some(callbacks) = allocator
        && let Some(allocate) = callbacks.pfn_allocation
    {
        // SAFETY: by the valid usage of every command, the callbacks are valid.
        memory = unsafe { allocate(callbacks.p_user_data, 16, 16, vk::SystemAllocationScope::OBJECT) };
        if memory.is_null() {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    let handle = create(object);
    if allocator.is_some() {
        ALLOCATIONS.lock().insert(handle, memory as u64);
    }
    out.write(Handle::of(handle));
    vk::Result::SUCCESS
}

/// Unboxes an object, and frees the memory that [`create_with`] allocated with the application's callbacks.
///
/// # Safety
/// Same as [`take`].
pub unsafe fn take_with<T>(allocator: Allocator<'_>, handle: u64) -> Option<T> {
    let memory = ALLOCATIONS.lock().remove(&handle);
    if handle != 0 && memory.is_some() != allocator.is_some() {
        MISMATCHES.fetch_add(1, Ordering::Relaxed);
    }
    if let (Some(memory), Some(callbacks)) = (memory, allocator)
        && let Some(free) = callbacks.pfn_free
    {
        // SAFETY: by the valid usage of every command, the callbacks are valid and compatible with those of the creation.
        unsafe { free(callbacks.p_user_data, memory as *mut c_void) };
    }
    // SAFETY: the caller's contract.
    unsafe { take(handle) }
}

/// Number of live boxed objects. Reveals leaks, and frees of objects that had to leak.
pub fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// Number of objects that were destroyed with callbacks and created without, or the other way round.
pub fn allocator_mismatches() -> u64 {
    MISMATCHES.load(Ordering::Relaxed)
}

/// Handle of an object without state.
pub fn token() -> u64 {
    NEXT_TOKEN.fetch_add(2, Ordering::Relaxed)
}
