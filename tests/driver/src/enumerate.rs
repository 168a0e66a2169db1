//! Helpers for arrays, texts and chains of structures.

use ash::vk::{self, TaggedStructure};
use std::ffi::{CStr, c_char};

/// Answers a query of a list: writes the count, or up to `count` elements. `list` is null or has `count` elements.
pub fn fill<T: Copy, N: Copy + TryInto<usize> + TryFrom<usize>>(all: &[T], count: &mut N, list: *mut T) -> vk::Result {
    let room = if list.is_null() {
        all.len()
    } else {
        (*count).try_into().unwrap_or(0)
    };
    let written = room.min(all.len());
    if !list.is_null() {
        // SAFETY: by the valid usage of every query, a list has room for `count` elements.
        unsafe { list.copy_from_nonoverlapping(all.as_ptr(), written) };
    }
    *count = N::try_from(written).unwrap_or(*count);
    all_or_incomplete(written == all.len())
}

/// Result of a query that returned everything, or not.
pub fn all_or_incomplete(all: bool) -> vk::Result {
    if all {
        vk::Result::SUCCESS
    } else {
        vk::Result::INCOMPLETE
    }
}

/// Array parameter of a command: null or `count` elements.
pub fn slice<'a, T>(list: *const T, count: u32) -> &'a [T] {
    match list.is_null() || count == 0 {
        true => &[],
        // SAFETY: by the valid usage of every command, an array has `count` elements.
        false => unsafe { std::slice::from_raw_parts(list, count as usize) },
    }
}

/// Structure of type `T` in the `pNext` chain of a command's parameter.
pub fn chained<T: TaggedStructure>(head: &impl TaggedStructure) -> Option<&T> {
    let mut node = std::ptr::from_ref(head).cast::<vk::BaseInStructure<'_>>();
    // SAFETY: by the valid usage of every command, chains are valid and `sType` gives the type of each structure.
    unsafe {
        while let Some(base) = node.as_ref() {
            if base.s_type == T::STRUCTURE_TYPE {
                return node.cast::<T>().as_ref();
            }
            node = base.p_next;
        }
    }
    None
}

/// Passes the structure of type `T` in a query's chain to `answer`.
pub fn answer<T: TaggedStructure>(head: &mut impl TaggedStructure, answer: impl FnOnce(&mut T)) {
    let mut node = std::ptr::from_mut(head).cast::<vk::BaseOutStructure<'_>>();
    // SAFETY: by the valid usage of every query, chains are valid and `sType` gives the type of each structure.
    unsafe {
        while let Some(base) = node.as_mut() {
            if base.s_type == T::STRUCTURE_TYPE {
                return answer(&mut *node.cast());
            }
            node = base.p_next;
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
