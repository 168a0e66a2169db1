//! Host memory callbacks that refuse one request, and check how memory is returned.

use anyhow::{Result, ensure};
use ash::vk;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory behind `VkAllocationCallbacks`.
pub struct Heap {
    refused: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    requests: usize,
    live: HashMap<usize, Layout>,
    /// Pointers that were not allocated, or freed before.
    wrong: usize,
}

impl Heap {
    /// A heap that returns no memory for the request with this index.
    pub fn new(refused: usize) -> Self {
        Self {
            refused,
            state: Mutex::default(),
        }
    }

    /// The callbacks. They must not be used after the heap is dropped.
    pub fn callbacks(&self) -> vk::AllocationCallbacks<'_> {
        vk::AllocationCallbacks::default()
            .user_data(ptr::from_ref(self).cast_mut().cast())
            .pfn_allocation(Some(allocate))
            .pfn_reallocation(Some(reallocate))
            .pfn_free(Some(free))
    }

    /// Number of requests for memory.
    pub fn requests(&self) -> usize {
        self.lock().requests
    }

    /// Checks that all memory was returned once.
    ///
    /// # Errors
    ///
    /// It was not.
    pub fn check(&self) -> Result<()> {
        let state = self.lock();
        ensure!(state.wrong == 0, "{} pointers are not of the heap", state.wrong);
        ensure!(
            state.live.is_empty(),
            "of {} allocations, {} leak after request {} was refused",
            state.requests,
            state.live.len(),
            self.refused
        );
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allocate(&self, size: usize, alignment: usize) -> *mut c_void {
        let mut state = self.lock();
        let index = state.requests;
        state.requests += 1;
        let layout = Layout::from_size_align(size.max(1), alignment.max(1));
        let (Ok(layout), false) = (layout, index == self.refused) else {
            return ptr::null_mut();
        };
        // SAFETY: the size is not 0.
        let memory = unsafe { alloc(layout) };
        if !memory.is_null() {
            state.live.insert(memory as usize, layout);
        }
        memory.cast()
    }

    fn free(&self, memory: *mut c_void) {
        if memory.is_null() {
            return;
        }
        let mut state = self.lock();
        match state.live.remove(&(memory as usize)) {
            // SAFETY: `allocate` allocated it with this layout, and it was not freed since.
            Some(layout) => unsafe { dealloc(memory.cast(), layout) },
            None => state.wrong += 1,
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        for (memory, layout) in self.lock().live.drain() {
            // SAFETY: as in `free`.
            unsafe { dealloc(memory as *mut u8, layout) };
        }
    }
}

/// # Safety
/// `data` must be the address of a live [`Heap`].
unsafe fn heap<'a>(data: *mut c_void) -> &'a Heap {
    // SAFETY: a live heap (the caller's contract).
    unsafe { &*data.cast_const().cast() }
}

unsafe extern "system" fn allocate(
    data: *mut c_void,
    size: usize,
    alignment: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: the callbacks are used while their heap is live.
    unsafe { heap(data) }.allocate(size, alignment)
}

unsafe extern "system" fn reallocate(
    data: *mut c_void,
    original: *mut c_void,
    size: usize,
    alignment: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: the callbacks are used while their heap is live.
    let heap = unsafe { heap(data) };
    if size == 0 {
        heap.free(original);
        return ptr::null_mut();
    }
    let old = heap.lock().live.get(&(original as usize)).map_or(0, Layout::size);
    let memory = heap.allocate(size, alignment);
    if !memory.is_null() {
        // SAFETY: both have as many bytes, and are different allocations.
        unsafe { ptr::copy_nonoverlapping(original.cast::<u8>(), memory.cast(), old.min(size)) };
        heap.free(original);
    }
    memory
}

unsafe extern "system" fn free(data: *mut c_void, memory: *mut c_void) {
    // SAFETY: the callbacks are used while their heap is live.
    unsafe { heap(data) }.free(memory);
}
