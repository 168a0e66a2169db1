//! Types with the size and alignment of a structure's members, for the generated table of sizes.

use std::ffi::c_void;

/// Any pointer.
pub type Ptr = *const c_void;
/// `N` 32-bit members.
pub type Words<const N: usize> = [u32; N];

/// Two members.
#[repr(C)]
pub struct F2<A, B>(A, B);

/// Three members.
#[repr(C)]
pub struct F3<A, B, C>(A, B, C);

/// Four members.
#[repr(C)]
pub struct F4<A, B, C, D>(A, B, C, D);

/// A structure with `sType`, `pNext` and `members`.
#[repr(C)]
struct Structure<T> {
    s_type: i32,
    next: Ptr,
    members: T,
}

/// The size in bytes of a structure with `sType`, `pNext` and the members `T`.
pub const fn node_size<T>() -> usize {
    size_of::<Structure<T>>()
}
