//! Helpers for arrays, texts and chains of structures.

use ash::vk::{self, TaggedStructure};
use std::ffi::{CStr, c_char};

/// Answers a query of a list: writes the count, or up to `count` elements.
///
/// # Safety
/// `list` must be null or have room for `count` elements.
pub unsafe fn fill<T: Copy, N: Copy + TryInto<usize> + TryFrom<usize>>(
    all: &[T],
    count: &mut N,
    list: *mut T,
) -> vk::Result {
    let room = if list.is_null() {
        all.len()
    } else {
        (*count).try_into().unwrap_or(0)
    };
    let written = room.min(all.len());
    if !list.is_null() {
        // SAFETY: the list has room for `count` elements (the caller's contract).
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

/// Array parameter of a command.
///
/// # Safety
/// `list` must be null or have `count` elements, which outlive the result.
pub unsafe fn slice<'a, T>(list: *const T, count: u32) -> &'a [T] {
    match list.is_null() || count == 0 {
        true => &[],
        // SAFETY: the array has `count` elements (the caller's contract).
        false => unsafe { std::slice::from_raw_parts(list, count as usize) },
    }
}

/// Structure of type `T` in the `pNext` chain of a command's parameter.
///
/// # Safety
/// The chain must be valid and outlive the result.
pub unsafe fn chained<T: TaggedStructure>(head: &impl TaggedStructure) -> Option<&T> {
    let mut node = std::ptr::from_ref(head).cast::<vk::BaseInStructure<'_>>();
    // SAFETY: the chain is valid (the caller's contract), and `sType` gives the type of each structure.
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
///
/// # Safety
/// The chain must be valid, and nothing else may use it meanwhile.
pub unsafe fn answer<T: TaggedStructure>(head: &mut impl TaggedStructure, answer: impl FnOnce(&mut T)) {
    let mut node = std::ptr::from_mut(head).cast::<vk::BaseOutStructure<'_>>();
    // SAFETY: the chain is valid (the caller's contract), and `sType` gives the type of each structure.
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
        *to = c_char::from_ne_bytes([*from]);
    }
}
