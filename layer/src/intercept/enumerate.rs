//! Answers queries for lists: layers, extensions, and the layer's own properties.

use super::MISSING;
use crate::LAYER_NAME;
use ash::vk;
use std::ffi::{CStr, c_char};

/// The version of the registry that the layer is written against.
const API_VERSION: u32 = vk::make_api_version(0, 1, 4, 350);

/// The layer's own properties.
pub fn own_layer() -> vk::LayerProperties {
    let mut own = vk::LayerProperties {
        spec_version: API_VERSION,
        implementation_version: 1,
        ..Default::default()
    };
    copy_text(&mut own.layer_name, LAYER_NAME);
    copy_text(&mut own.description, crate::DESCRIPTION);
    own
}

/// An entry of an extension list.
pub fn extension(name: &CStr, version: u32) -> vk::ExtensionProperties {
    let mut entry = vk::ExtensionProperties {
        spec_version: version,
        ..Default::default()
    };
    copy_text(&mut entry.extension_name, name);
    entry
}

/// Copies a string into a zeroed array, truncated so that it stays null-terminated.
pub fn copy_text(to: &mut [c_char], text: &CStr) {
    let capacity = to.len().saturating_sub(1);
    for (to, from) in to.iter_mut().zip(text.to_bytes().iter().take(capacity)) {
        *to = *from as c_char;
    }
}

/// Answers a query for a list: writes the count, or up to `count` elements.
///
/// # Safety
/// `count` must be null or valid, and `list` null or have `count` elements.
pub unsafe fn fill<T: Copy>(all: &[T], count: *mut u32, list: *mut T) -> vk::Result {
    // SAFETY: both pointers are null or valid (the caller's contract).
    unsafe {
        let Some(count) = count.as_mut() else {
            return MISSING;
        };
        let available = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if list.is_null() {
            *count = available;
            return vk::Result::SUCCESS;
        }
        let written = (*count).min(available);
        std::ptr::copy_nonoverlapping(all.as_ptr(), list, written as usize);
        *count = written;
        if written < available {
            vk::Result::INCOMPLETE
        } else {
            vk::Result::SUCCESS
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_counted_filled_and_cut() {
        let all = [1, 2, 3];
        let mut count = 9;
        let mut room = [0; 4];
        // SAFETY: the count and the array are ours.
        unsafe {
            assert_eq!(fill(&all, &mut count, std::ptr::null_mut()), vk::Result::SUCCESS);
            assert_eq!(count, 3);
            count = 2;
            assert_eq!(fill(&all, &mut count, room.as_mut_ptr()), vk::Result::INCOMPLETE);
            assert_eq!((count, room), (2, [1, 2, 0, 0]));
            count = 4;
            assert_eq!(fill(&all, &mut count, room.as_mut_ptr()), vk::Result::SUCCESS);
            assert_eq!((count, room), (3, [1, 2, 3, 0]));
        }
    }
}
