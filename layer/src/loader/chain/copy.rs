//! Edited copies of input chains.
//!
//! An application's input chain may be in read-only memory, so it is never written. A copy owns the nodes up to the last
//! edited one and shares the rest with the original. Copying needs the size of each node, from a generated table: a node of
//! unknown size cannot be copied, and ends the owned part. The nodes behind it can only be read.

use super::{Node, find, nodes, sizes};
use crate::loader::ffi::LayerDeviceCreateInfo;
use ash::vk::{BaseOutStructure, Bool32, StructureType, TRUE, TaggedStructure};
use std::ffi::c_void;
use std::ptr;

/// The size in bytes of the structure with this type, if the table has it.
pub(super) fn size_of_node(s_type: StructureType) -> Option<usize> {
    if s_type == LayerDeviceCreateInfo::STRUCTURE_TYPE {
        return Some(size_of::<LayerDeviceCreateInfo>());
    }
    let has_type = |row: &&(usize, &[i32])| row.1.binary_search(&s_type.as_raw()).is_ok();
    sizes::SIZES.iter().find(has_type).map(|row| row.0)
}

/// A node of unknown size, which keeps those that follow it from being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownNode(pub StructureType);

/// How a copy treats a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Keeps it.
    Keep,
    /// Copies it, so that it can be changed, unless a node of unknown size precedes it.
    Change,
    /// Leaves it out, unless a node of unknown size precedes it: drivers skip structures that they do not support.
    Remove,
}

/// An edited copy of a chain.
pub struct ChainCopy {
    head: *const c_void,
    /// The owned nodes, in 8-byte words for their alignment. Raw pointers link them: a `Vec` may move without moving its
    /// words, and unlike a `Box` it does not claim exclusive access when it moves.
    owned: Vec<Vec<u64>>,
    /// The first node that is shared with the original.
    shared: *const c_void,
    /// The first shared node, if it is shared because of its unknown size.
    unknown: Option<UnknownNode>,
}

impl ChainCopy {
    /// Copies the chain at `head` up to the last node that `edit` changes or removes, or up to a node of unknown size.
    ///
    /// # Safety
    /// `head` must be null or start a valid chain that outlives the copy.
    pub unsafe fn new(head: *const c_void, edit: impl Fn(StructureType) -> Edit) -> Self {
        // SAFETY: the chain is valid (the caller's contract).
        let all: Vec<Node> = unsafe { nodes(head) }.collect();
        let end = all
            .iter()
            .rposition(|node| edit(node.s_type) != Edit::Keep)
            .map_or(0, |last| last + 1);
        let mut copies = Vec::new();
        let (mut shared, mut unknown) = (head, None);
        for node in all.iter().take(end) {
            if edit(node.s_type) != Edit::Remove {
                let Some(size) = size_of_node(node.s_type) else {
                    unknown = Some(UnknownNode(node.s_type));
                    break;
                };
                let mut words = vec![0u64; size.div_ceil(8)];
                let (from, to) = (node.address().cast::<u8>(), words.as_mut_ptr().cast::<u8>());
                // SAFETY: a structure of this type has `size` bytes, and so many fit into the words.
                unsafe { ptr::copy_nonoverlapping(from, to, size) };
                copies.push(words);
            }
            // SAFETY: the chain is valid (the caller's contract).
            shared = unsafe { node.next() };
        }
        let mut copy = Self {
            head: shared,
            owned: Vec::new(),
            shared,
            unknown,
        };
        for words in copies.into_iter().rev() {
            copy.link(words);
        }
        copy
    }

    /// Puts a copy of `node` first.
    pub fn prepend<T: TaggedStructure + Copy>(&mut self, node: T) {
        let mut words = vec![0u64; size_of::<T>().div_ceil(8)];
        const { assert!(align_of::<T>() <= align_of::<u64>()) };
        // SAFETY: the words have room for a `T` and its alignment.
        unsafe { words.as_mut_ptr().cast::<T>().write(node) };
        self.link(words);
    }

    fn link(&mut self, mut words: Vec<u64>) {
        let node = words.as_mut_ptr().cast::<BaseOutStructure<'static>>();
        // SAFETY: the words hold a structure, which starts with its type and the next structure.
        unsafe { (*node).p_next = self.head.cast_mut().cast() };
        self.head = node.cast_const().cast();
        self.owned.push(words);
    }

    /// The owned `T` of the chain, for changes. None if the chain has no `T` or shares it with the original.
    pub fn copied<T: TaggedStructure>(&mut self) -> Option<&mut T> {
        let mut nodes = self.owned.iter_mut().map(|words| words.as_mut_ptr());
        // SAFETY: the words hold a structure, which starts with its type; one with the type of `T` is a `T`. They are borrowed
        // mutably.
        unsafe {
            let node = nodes.find(|node| (*node.cast::<BaseOutStructure<'_>>()).s_type == T::STRUCTURE_TYPE)?;
            Some(&mut *node.cast())
        }
    }

    /// Enables the features that `select` picks from the `T` of the chain. Returns whether there is one.
    ///
    /// # Errors
    /// The `T` is shared with the original, because of the returned node, and one of the features is disabled in it.
    pub fn enable<T: TaggedStructure + Copy>(
        &mut self,
        select: impl FnOnce(&mut T) -> Vec<&mut Bool32>,
    ) -> Result<bool, UnknownNode> {
        if let Some(node) = self.copied::<T>() {
            select(node).into_iter().for_each(|feature| *feature = TRUE);
            return Ok(true);
        }
        // SAFETY: the original chain outlives the copy (the contract of `new`).
        let Some(mut node) = (unsafe { find::<T>(self.shared) }).copied() else {
            return Ok(false);
        };
        match select(&mut node).iter().all(|feature| **feature == TRUE) {
            true => Ok(true),
            false => Err(self.unknown.unwrap_or(UnknownNode(T::STRUCTURE_TYPE))),
        }
    }

    /// Enables features of the `T` of the chain, or of a default `T` that it puts first if there is none.
    ///
    /// # Errors
    /// As [`Self::enable`].
    pub fn enable_or_add<T: TaggedStructure + Copy + Default>(
        &mut self,
        select: impl Fn(&mut T) -> Vec<&mut Bool32>,
    ) -> Result<(), UnknownNode> {
        if !self.enable(&select)? {
            let mut node = T::default();
            select(&mut node).into_iter().for_each(|feature| *feature = TRUE);
            self.prepend(node);
        }
        Ok(())
    }

    /// The first node.
    pub fn head(&self) -> *const c_void {
        self.head
    }

    /// The memory of the owned nodes, which the chain at [`Self::head`] needs.
    pub fn into_owned(self) -> Vec<Vec<u64>> {
        self.owned
    }
}
