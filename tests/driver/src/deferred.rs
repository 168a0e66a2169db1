//! Deferred operations.

use crate::handle;
use ash::vk::{self, Handle};
use std::sync::{Mutex, PoisonError};

/// A deferred operation: the work to do when it is joined.
#[derive(Default)]
pub struct Deferred(pub Mutex<Vec<Box<dyn FnOnce() + Send>>>);

pub unsafe extern "system" fn create(
    _: vk::Device,
    _: *const vk::AllocationCallbacks<'_>,
    operation: *mut vk::DeferredOperationKHR,
) -> vk::Result {
    let created = handle::create(Deferred::default());
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { operation.write(vk::DeferredOperationKHR::from_raw(created)) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn join(_: vk::Device, operation: vk::DeferredOperationKHR) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    if let Some(deferred) = unsafe { handle::get::<Deferred>(operation.as_raw()) } {
        let work = std::mem::take(&mut *deferred.0.lock().unwrap_or_else(PoisonError::into_inner));
        work.into_iter().for_each(|work| work());
    }
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn max_concurrency(_: vk::Device, _: vk::DeferredOperationKHR) -> u32 {
    1
}

pub unsafe extern "system" fn result(_: vk::Device, operation: vk::DeferredOperationKHR) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    let deferred = unsafe { handle::get::<Deferred>(operation.as_raw()) };
    match deferred.is_some_and(|deferred| deferred.0.lock().is_ok_and(|work| !work.is_empty())) {
        true => vk::Result::NOT_READY,
        false => vk::Result::SUCCESS,
    }
}

pub unsafe extern "system" fn destroy(
    _: vk::Device,
    operation: vk::DeferredOperationKHR,
    _: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: by the command's valid usage, the object is not used afterwards.
    unsafe { handle::destroy::<Deferred>(operation.as_raw()) };
}
