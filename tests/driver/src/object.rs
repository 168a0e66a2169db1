//! Commands that create or destroy an object of any type.

use crate::handle::{self, Allocator, Out};
use crate::state::Device;
use ash::vk;
use std::ffi::c_void;

/// Any command that creates an object in its default state.
pub extern "system" fn create_default<T: Default>(
    _: &Device,
    _: *const c_void,
    allocator: Allocator<'_>,
    object: Out<'_, u64>,
) -> vk::Result {
    handle::create_with(allocator, object, T::default())
}

/// Any command that destroys an object.
pub extern "system" fn destroy<T>(_: &Device, object: u64, allocator: Allocator<'_>) {
    // SAFETY: by the command's valid usage, the object is null or live, and is not used afterwards.
    drop(unsafe { handle::take_with::<T>(allocator, object) });
}
