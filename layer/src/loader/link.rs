//! The loader's links between layers, in the chains of `VkInstanceCreateInfo` and `VkDeviceCreateInfo`.

use super::chain::{self, Node};
use super::ffi::{LAYER_LINK_INFO, LayerCreateInfo, LayerLink};
use ash::vk::TaggedStructure;
use std::ffi::c_void;

/// Takes this layer's link from the loader's node in a create-info chain, so that the next layer finds its own there.
///
/// # Safety
/// `head` must be the chain that the loader passed to `vkCreateInstance` or `vkCreateDevice`.
pub unsafe fn take_link<F: Copy>(head: *const c_void) -> Option<LayerLink<F>>
where
    LayerCreateInfo<F>: TaggedStructure,
{
    // SAFETY: the chain is valid, and the loader's nodes may be written (LoaderLayerInterface.md, "Layer Chain").
    unsafe {
        let node = link_node::<F>(head)?;
        let link = (*node).layer_info.as_ref().copied()?;
        (*node).layer_info = link.next;
        Some(link)
    }
}

/// Restores the next layer's link in the loader's node. A layer takes its link when it is called, so this is needed before
/// the next layer is called a second time.
///
/// # Safety
/// As [`take_link`], which must have returned `link`.
pub unsafe fn restore_link<F: Copy>(head: *const c_void, link: &LayerLink<F>)
where
    LayerCreateInfo<F>: TaggedStructure,
{
    // SAFETY: the chain is valid, and the loader's nodes may be written (LoaderLayerInterface.md, "Layer Chain").
    unsafe {
        if let Some(node) = link_node::<F>(head) {
            (*node).layer_info = link.next;
        }
    }
}

/// The loader's node with the links. The loader searches by type and function: the node may be anywhere in the chain.
///
/// # Safety
/// As [`take_link`].
unsafe fn link_node<F>(head: *const c_void) -> Option<*mut LayerCreateInfo<F>>
where
    LayerCreateInfo<F>: TaggedStructure,
{
    // SAFETY: the chain is valid (the caller's contract).
    unsafe {
        let mut nodes = chain::nodes(head).filter_map(Node::cast::<LayerCreateInfo<F>>);
        nodes.find(|node| (**node).function == LAYER_LINK_INFO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::ffi::{LayerDeviceCreateInfo, PfnGetPhysicalDeviceProcAddr};
    use ash::vk;
    use std::ptr;

    #[test]
    fn a_link_is_found_by_its_function_and_the_next_layers_is_left() {
        let mut last = LayerLink {
            next: ptr::null_mut(),
            next_get_instance_proc_addr: None,
            next_get_proc_addr: None,
        };
        let mut own = LayerLink {
            next: &raw mut last,
            ..last
        };
        let node = |function, p_next, layer_info| LayerDeviceCreateInfo {
            s_type: LayerDeviceCreateInfo::STRUCTURE_TYPE,
            p_next,
            function,
            layer_info,
        };
        let mut linked = node(LAYER_LINK_INFO, ptr::null(), &raw mut own);
        let callback = node(1, (&raw mut linked).cast_const().cast(), ptr::null_mut());
        // SAFETY: the chain is valid and its nodes may be written.
        unsafe {
            let taken = take_link::<vk::PFN_vkGetDeviceProcAddr>((&raw const callback).cast());
            assert_eq!(taken.map(|link| link.next), Some(&raw mut last));
            assert_eq!(linked.layer_info, &raw mut last);
            assert!(take_link::<PfnGetPhysicalDeviceProcAddr>((&raw const callback).cast()).is_none());
            take_link::<vk::PFN_vkGetDeviceProcAddr>((&raw const callback).cast());
            assert_eq!(linked.layer_info, ptr::null_mut());
            restore_link((&raw const callback).cast(), &own);
            assert_eq!(linked.layer_info, &raw mut last);
        }
    }
}
