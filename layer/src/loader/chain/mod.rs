//! `pNext` chains: looking into them, and copying the part of one that has to change.
//!
//! The application's chains are `const` and may stand in read-only memory, so nothing is changed in place. A
//! [`ChainCopy`] owns copies of the nodes up to the last one that changes and shares the untouched tail. Copying
//! needs sizes, which come from a generated table; a node of unknown size ends the part that can be copied.

mod sizes;

use ash::vk::{self, BaseInStructure, StructureType};
use std::ffi::c_void;
use std::{iter, ptr};

type Ptr = *const c_void;
type Words<const N: usize> = [u32; N];
#[repr(C)]
struct F2<A, B>(A, B);
#[repr(C)]
struct F3<A, B, C>(A, B, C);
#[repr(C)]
struct F4<A, B, C, D>(A, B, C, D);
#[repr(C)]
struct Node<T> {
    s_type: i32,
    next: Ptr,
    fields: T,
}

const fn node_size<T>() -> usize {
    size_of::<Node<T>>()
}

/// Bytes of the structure with this type, if the table knows it.
fn size_of_node(s_type: StructureType) -> Option<usize> {
    match s_type {
        crate::loader::ffi::LOADER_DEVICE_CREATE_INFO => Some(size_of::<crate::loader::ffi::LayerDeviceCreateInfo>()),
        _ => {
            let at = sizes::SIZES.binary_search_by_key(&s_type.as_raw(), |row| row.0).ok()?;
            sizes::SIZES.get(at).map(|row| row.1)
        }
    }
}

/// The nodes of a chain.
///
/// # Safety
/// `head` must be null or start a valid chain that outlives the iterator.
pub unsafe fn nodes<'a>(head: *const c_void) -> impl Iterator<Item = &'a BaseInStructure<'a>> {
    // SAFETY: the caller vouches for every node of the chain.
    let first = unsafe { head.cast::<BaseInStructure<'a>>().as_ref() };
    // SAFETY: as above; `p_next` is null at the end.
    iter::successors(first, |node| unsafe { node.p_next.as_ref() })
}

/// The node of type `s_type`, read as a `T`.
///
/// # Safety
/// As [`nodes`], and `T` must be the structure that `s_type` names.
pub unsafe fn find<'a, T>(head: *const c_void, s_type: StructureType) -> Option<&'a T> {
    // SAFETY: the caller vouches for the chain and the type.
    unsafe { nodes(head) }
        .find(|node| node.s_type == s_type)
        .and_then(|node| unsafe { ptr::from_ref(node).cast::<T>().as_ref() })
}

/// Calls `visit` with every node of a chain of output structures.
///
/// # Safety
/// `head` must be null or start a valid chain of structures that may be written.
pub unsafe fn for_each_output(head: *mut c_void, mut visit: impl FnMut(StructureType, *mut c_void)) {
    let mut at = head.cast::<vk::BaseOutStructure<'_>>();
    while !at.is_null() {
        // SAFETY: the caller vouches for every node of the chain.
        let (s_type, next) = unsafe { ((*at).s_type, (*at).p_next) };
        visit(s_type, at.cast());
        at = next;
    }
}

/// Calls down while the nodes that `hidden` names are out of an output chain: some drivers complain of what they do not
/// know. Output chains may be written, and afterwards the chain is as it was.
///
/// # Safety
/// `root` must be null or a structure that starts a valid chain of structures that may be written.
pub unsafe fn hiding(root: *mut c_void, hidden: impl Fn(StructureType) -> bool, call: impl FnOnce()) {
    let mut removed = Vec::new();
    let mut before = root.cast::<vk::BaseOutStructure<'_>>();
    // SAFETY: the caller vouches for every node of the chain.
    unsafe {
        while !before.is_null() && !(*before).p_next.is_null() {
            let node = (*before).p_next;
            if hidden((*node).s_type) {
                (*before).p_next = (*node).p_next;
                removed.push((before, node));
            } else {
                before = node;
            }
        }
        call();
        // Last out, first in: neighbours that both went find each other again.
        for (before, node) in removed.into_iter().rev() {
            (*before).p_next = node;
        }
    }
}

/// A node that would have to be copied and whose size is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNode(pub StructureType);

/// What becomes of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// It stays as it is.
    Keep,
    /// It will be changed in the copy.
    Change,
    /// It is left out where that is possible.
    Remove,
}

/// A chain of which the first nodes are owned copies.
pub struct ChainCopy {
    head: *const c_void,
    /// Owned nodes; 8-byte words keep them aligned. A block never moves once it is linked.
    blocks: Vec<Box<[u64]>>,
}

impl ChainCopy {
    /// Copies the chain at `head` as far as `edit` asks for. Nodes to be removed that stand behind a node of unknown
    /// size stay in: a component skips structures that it does not know.
    ///
    /// # Errors
    /// A node to be changed stands behind a node of unknown size.
    ///
    /// # Safety
    /// `head` must be null or start a valid chain that outlives the copy.
    pub unsafe fn new(head: *const c_void, edit: impl Fn(StructureType) -> Edit) -> Result<Self, UnknownNode> {
        // SAFETY: the caller vouches for the chain.
        let all: Vec<&BaseInStructure<'_>> = unsafe { nodes(head) }.collect();
        let wanted = all
            .iter()
            .rposition(|node| edit(node.s_type) != Edit::Keep)
            .map_or(0, |last| last + 1);
        let mut copy = Self {
            head,
            blocks: Vec::new(),
        };
        let mut kept = Vec::new();
        let mut tail = head;
        for (at, node) in all.iter().take(wanted).enumerate() {
            if edit(node.s_type) != Edit::Remove {
                let Some(size) = size_of_node(node.s_type) else {
                    if all.iter().skip(at).any(|later| edit(later.s_type) == Edit::Change) {
                        return Err(UnknownNode(node.s_type));
                    }
                    break;
                };
                let mut block = vec![0u64; size.div_ceil(8)].into_boxed_slice();
                // SAFETY: the node has `size` bytes by the table, and the block at least as many.
                unsafe {
                    ptr::copy_nonoverlapping(
                        ptr::from_ref::<BaseInStructure<'_>>(node).cast::<u8>(),
                        block.as_mut_ptr().cast::<u8>(),
                        size,
                    );
                }
                kept.push(block);
            }
            tail = node.p_next.cast();
        }
        if wanted > 0 {
            copy.head = tail;
            for block in kept.into_iter().rev() {
                copy.link(block);
            }
        }
        Ok(copy)
    }

    /// Puts a copy of `node` in front.
    ///
    /// # Safety
    /// `T` must be an input structure that starts with `sType` and `pNext`.
    pub unsafe fn prepend<T: Copy>(&mut self, node: T) {
        let mut block = vec![0u64; size_of::<T>().div_ceil(8)].into_boxed_slice();
        // SAFETY: the block is large enough and aligned to 8, which no Vulkan structure exceeds.
        unsafe { block.as_mut_ptr().cast::<T>().write(node) };
        self.link(block);
    }

    fn link(&mut self, mut block: Box<[u64]>) {
        let node = block.as_mut_ptr().cast::<BaseInStructure<'_>>();
        // SAFETY: every block starts with sType and pNext and is at least that long.
        unsafe { (*node).p_next = self.head.cast() };
        self.head = node.cast_const().cast();
        self.blocks.push(block);
    }

    /// The copied node of type `s_type`, to be changed. Null if the chain has none or its node is not a copy.
    pub fn copied<T>(&mut self, s_type: StructureType) -> *mut T {
        self.blocks
            .iter_mut()
            .map(|block| block.as_mut_ptr())
            // SAFETY: every block starts with sType.
            .find(|node| unsafe { (*node.cast::<BaseInStructure<'_>>()).s_type } == s_type)
            .map_or(ptr::null_mut(), |node| node.cast())
    }

    /// The first node.
    pub fn head(&self) -> *const c_void {
        self.head
    }
}

#[cfg(test)]
mod tests;
