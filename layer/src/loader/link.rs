//! The loader's links between layers, in the chains of `VkInstanceCreateInfo` and `VkDeviceCreateInfo`.

use super::chain::{self, Node};
use super::ffi::{LAYER_LINK_INFO, LayerCreateInfo, LayerDeviceLink, LayerInstanceLink};
use ash::vk::TaggedStructure;
use std::ffi::c_void;

/// A link of the layer chain.
pub trait LayerLink: Copy {
    /// The link of the next layer.
    fn next(&self) -> *mut Self;
}

impl LayerLink for LayerInstanceLink {
    fn next(&self) -> *mut Self {
        self.next
    }
}

impl LayerLink for LayerDeviceLink {
    fn next(&self) -> *mut Self {
        self.next
    }
}

/// Takes this layer's link from the loader's node in a create-info chain, and leaves the next layer's link there. The loader
/// searches by type and function: the node may be anywhere in the chain.
///
/// # Safety
/// `head` must be the chain that the loader passed to `vkCreateInstance` or `vkCreateDevice`.
pub unsafe fn take_link<L: LayerLink>(head: *const c_void) -> Option<L>
where
    LayerCreateInfo<L>: TaggedStructure,
{
    // SAFETY: the chain is valid, and the loader's nodes may be written (LoaderLayerInterface.md, "Layer Chain").
    unsafe {
        let node = chain::nodes(head)
            .filter_map(Node::cast::<LayerCreateInfo<L>>)
            .find(|node| (**node).function == LAYER_LINK_INFO)?;
        let link = (*node).layer_info.as_ref().copied()?;
        (*node).layer_info = link.next();
        Some(link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::ffi::LayerDeviceCreateInfo;
    use std::ptr;

    #[test]
    fn a_link_is_found_by_its_function_and_the_next_layers_is_left() {
        let mut last = LayerDeviceLink {
            next: ptr::null_mut(),
            next_get_instance_proc_addr: None,
            next_get_device_proc_addr: None,
        };
        let mut own = LayerDeviceLink {
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
            let taken = take_link::<LayerDeviceLink>((&raw const callback).cast());
            assert_eq!(taken.map(|link| link.next), Some(&raw mut last));
            assert_eq!(linked.layer_info, &raw mut last);
            assert!(take_link::<LayerInstanceLink>((&raw const callback).cast()).is_none());
        }
    }
}
