//! `pNext` chains: iteration, search, and edited copies.
//!
//! Nodes are read through raw pointers, since a node extends beyond its `VkBaseInStructure`, and output chains are written
//! while they are iterated.

mod copy;
mod layout;
mod sizes;

pub use copy::{ChainCopy, Edit, UnknownNode};

use ash::vk::{BaseInStructure, BaseOutStructure, StructureType, TaggedStructure};
use std::ffi::c_void;
use std::iter;

/// A structure of a chain.
#[derive(Clone, Copy)]
pub struct Node {
    /// Its type.
    pub s_type: StructureType,
    address: *const c_void,
}

impl Node {
    /// The structure, if it is a `T`. Writable if the chain is an output chain.
    pub fn cast<T: TaggedStructure>(self) -> Option<*mut T> {
        (self.s_type == T::STRUCTURE_TYPE).then_some(self.address.cast_mut().cast())
    }

    /// The structure, whatever its type.
    pub fn address(self) -> *const c_void {
        self.address
    }

    /// # Safety
    /// `address` must be null or a structure of a valid chain.
    unsafe fn at(address: *const c_void) -> Option<Self> {
        let base = address.cast::<BaseInStructure<'_>>();
        if base.is_null() {
            return None;
        }
        // SAFETY: every structure of a chain starts with its type (the caller's contract).
        let s_type = unsafe { (*base).s_type };
        Some(Self { s_type, address })
    }

    /// # Safety
    /// The node's chain must still be valid.
    unsafe fn next(self) -> *const c_void {
        // SAFETY: every structure of a chain starts with its type and the next structure (the caller's contract).
        unsafe { (*self.address.cast::<BaseInStructure<'_>>()).p_next.cast() }
    }
}

/// The nodes of a chain.
///
/// # Safety
/// `head` must be null or start a valid chain, which must stay valid while the iterator is in use.
pub unsafe fn nodes(head: *const c_void) -> impl Iterator<Item = Node> {
    // SAFETY: the chain is valid (the caller's contract), and null ends it.
    iter::successors(unsafe { Node::at(head) }, |node| unsafe { Node::at(node.next()) })
}

/// The first `T` of a chain.
///
/// # Safety
/// `head` must be null or start a valid chain that outlives the result.
pub unsafe fn find<'a, T: TaggedStructure>(head: *const c_void) -> Option<&'a T> {
    // SAFETY: the chain is valid (the caller's contract), and a structure with the type of `T` is a `T`.
    unsafe { nodes(head).find_map(Node::cast::<T>).map(|node| &*node) }
}

/// Calls `call` while the nodes that `hidden` selects are unlinked from an output chain, then links them again. Some drivers
/// report structures that they do not support.
///
/// # Safety
/// `root` must be null or a structure that starts a valid output chain, and only `call` may use the chain meanwhile.
pub unsafe fn hiding(root: *mut c_void, hidden: impl Fn(StructureType) -> bool, call: impl FnOnce()) {
    let mut removed = Vec::new();
    let mut previous = root.cast::<BaseOutStructure<'_>>();
    // SAFETY: every node of an output chain may be written (the caller's contract).
    unsafe {
        while !previous.is_null() && !(*previous).p_next.is_null() {
            let node = (*previous).p_next;
            if hidden((*node).s_type) {
                (*previous).p_next = (*node).p_next;
                removed.push((previous, node));
            } else {
                previous = node;
            }
        }
        call();
        // In reverse order, so that adjacent hidden nodes are linked to each other again.
        for (previous, node) in removed.into_iter().rev() {
            (*previous).p_next = node;
        }
    }
}

#[cfg(test)]
mod tests;
