//! Helpers for queries that return lists and texts.

use ash::vk;
use std::ffi::{CStr, c_char};

/// Answers a query of a list: writes the count, or up to `count` elements.
///
/// # Safety
/// `count` must be valid, and `list` null or an array of `count` elements.
pub unsafe fn fill<T: Copy>(all: &[T], count: *mut u32, list: *mut T) -> vk::Result {
    // SAFETY: the caller passes a valid count and an array of that length.
    unsafe {
        if list.is_null() {
            count.write(all.len() as u32);
            return vk::Result::SUCCESS;
        }
        let written = (count.read() as usize).min(all.len());
        list.copy_from_nonoverlapping(all.as_ptr(), written);
        count.write(written as u32);
        match written < all.len() {
            true => vk::Result::INCOMPLETE,
            false => vk::Result::SUCCESS,
        }
    }
}

/// Element of a list of extensions.
pub fn extension(name: &CStr, version: u32) -> vk::ExtensionProperties {
    let mut entry = vk::ExtensionProperties {
        spec_version: version,
        ..Default::default()
    };
    copy_text(&mut entry.extension_name, name);
    entry
}

/// Copies a C string into a fixed-size array.
pub fn copy_text(to: &mut [c_char], text: &CStr) {
    for (to, from) in to.iter_mut().zip(text.to_bytes_with_nul()) {
        *to = from.cast_signed();
    }
}
