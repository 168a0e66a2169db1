use super::copy::{UnknownNode, size_of_node};
use super::*;
use ash::vk;

fn types(head: *const c_void) -> Vec<i32> {
    // SAFETY: the tests build valid chains.
    unsafe { nodes(head) }.map(|n| n.s_type.as_raw()).collect()
}

/// maintenance4 -> multiview -> 1.2 features.
struct Chain {
    first: *mut vk::PhysicalDeviceMaintenance4Features<'static>,
    third: *mut vk::PhysicalDeviceVulkan12Features<'static>,
}

impl Chain {
    fn head(&self) -> *const c_void {
        self.first.cast()
    }

    /// Whether the application's third structure has `bufferDeviceAddress`.
    fn has_addresses(&self) -> bool {
        // SAFETY: the structures outlive the test.
        unsafe { (*self.third).buffer_device_address == vk::TRUE }
    }
}

/// Runs a test on a chain. Only raw pointers refer to its structures, as in an application in C.
fn with_chain(test: impl FnOnce(&Chain)) {
    let mut third = vk::PhysicalDeviceVulkan12Features::default().shader_int8(true);
    let mut second = vk::PhysicalDeviceMultiviewFeatures::default().multiview(true);
    let mut first = vk::PhysicalDeviceMaintenance4Features::default();
    let third = &raw mut third;
    second.p_next = third.cast();
    first.p_next = (&raw mut second).cast();
    test(&Chain {
        first: &raw mut first,
        third,
    });
}

const MAINTENANCE4: StructureType = vk::PhysicalDeviceMaintenance4Features::STRUCTURE_TYPE;
const MULTIVIEW: StructureType = vk::PhysicalDeviceMultiviewFeatures::STRUCTURE_TYPE;
const VULKAN_1_2: StructureType = vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE;

#[test]
fn a_chain_without_edits_is_shared_whole() {
    with_chain(|chain| {
        // SAFETY: the chain is valid and outlives the copy.
        let copy = unsafe { ChainCopy::new(chain.head(), |_| Edit::Keep) };
        assert_eq!(copy.head(), chain.head());
    });
}

#[test]
fn removing_a_node_copies_what_precedes_it_and_shares_what_follows() {
    with_chain(|chain| {
        let edit = |t| if t == MULTIVIEW { Edit::Remove } else { Edit::Keep };
        // SAFETY: the chain is valid and outlives the copy.
        let copy = unsafe { ChainCopy::new(chain.head(), edit) };
        assert_eq!(types(copy.head()), [MAINTENANCE4.as_raw(), VULKAN_1_2.as_raw()]);
        // SAFETY: the chain is valid and outlives the copy.
        let last = unsafe { nodes(copy.head()) }.last().expect("two nodes");
        assert_eq!(last.address().cast(), chain.third.cast_const());
        assert_eq!(types(chain.head()).len(), 3, "the application's chain is as it was");
    });
}

#[test]
fn removing_the_only_or_first_node_leaves_the_rest() {
    with_chain(|chain| {
        let edit = |t| if t == MAINTENANCE4 { Edit::Remove } else { Edit::Keep };
        // SAFETY: the chain is valid and outlives the copy.
        let copy = unsafe { ChainCopy::new(chain.head(), edit) };
        assert_eq!(types(copy.head()), [MULTIVIEW.as_raw(), VULKAN_1_2.as_raw()]);
        // SAFETY: the chain is valid and outlives the copy.
        let none = unsafe { ChainCopy::new(chain.head(), |_| Edit::Remove) };
        assert!(none.head().is_null());
    });
}

#[test]
fn a_changed_node_is_changed_in_the_copy_only() {
    with_chain(|chain| {
        let edit = |t| if t == VULKAN_1_2 { Edit::Change } else { Edit::Keep };
        // SAFETY: the chain is valid and outlives the copy.
        let mut copy = unsafe { ChainCopy::new(chain.head(), edit) };
        let node = copy.copied::<vk::PhysicalDeviceVulkan12Features<'_>>().expect("a copy");
        assert_eq!(node.shader_int8, vk::TRUE);
        node.buffer_device_address = vk::TRUE;
        // SAFETY: the chain is valid and outlives the copy.
        let found = unsafe { find::<vk::PhysicalDeviceVulkan12Features<'_>>(copy.head()) };
        assert_eq!(found.map(|node| node.buffer_device_address), Some(vk::TRUE));
        assert!(!chain.has_addresses());
        assert_eq!(types(copy.head()).len(), 3);
    });
}

#[test]
fn a_prepended_node_comes_first() {
    with_chain(|chain| {
        // SAFETY: the chain is valid and outlives the copy.
        let mut copy = unsafe { ChainCopy::new(chain.head(), |_| Edit::Keep) };
        copy.prepend(vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true));
        assert_eq!(types(copy.head()).len(), 4);
        // SAFETY: the chain is valid and outlives the copy.
        let first = unsafe { find::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>>(copy.head()) };
        assert_eq!(first.map(|f| f.buffer_device_address), Some(vk::TRUE));
    });
}

#[test]
fn a_node_of_unknown_size_is_never_copied() {
    with_chain(|chain| {
        let unknown = StructureType::from_raw(1_999_999_000);
        // SAFETY: the structures outlive the test.
        unsafe { (*chain.first).s_type = unknown };
        let change = |t| if t == VULKAN_1_2 { Edit::Change } else { Edit::Keep };
        // SAFETY: the chain is valid and outlives the copy.
        let mut shared = unsafe { ChainCopy::new(chain.head(), change) };
        assert_eq!(shared.head(), chain.head());
        assert!(shared.copied::<vk::PhysicalDeviceVulkan12Features<'_>>().is_none());
        // A feature that the application enables needs no copy.
        let has_int8 = shared.enable::<vk::PhysicalDeviceVulkan12Features<'_>>(|f| vec![&mut f.shader_int8]);
        assert_eq!(has_int8, Ok(true));
        let refused = shared.enable::<vk::PhysicalDeviceVulkan12Features<'_>>(|f| vec![&mut f.buffer_device_address]);
        assert_eq!(refused, Err(UnknownNode(unknown)));
        assert!(!chain.has_addresses());
        assert_eq!(
            shared.enable::<vk::PhysicalDeviceFeatures2<'_>>(|_| Vec::new()),
            Ok(false)
        );
        // A structure of the layer's own precedes it.
        assert_eq!(
            shared.enable_or_add::<vk::PhysicalDeviceFaultFeaturesEXT<'_>>(|f| vec![&mut f.device_fault]),
            Ok(())
        );
        assert_eq!(types(shared.head()).len(), 4);
        let remove = |t| if t == VULKAN_1_2 { Edit::Remove } else { Edit::Keep };
        // SAFETY: the chain is valid and outlives the copy.
        let kept = unsafe { ChainCopy::new(chain.head(), remove) };
        assert_eq!(kept.head(), chain.head());
    });
}

#[test]
fn the_size_table_is_sorted_and_agrees_with_ash() {
    assert!(sizes::SIZES.iter().all(|(_, types)| types.is_sorted()));
    fn agrees<T: TaggedStructure>() {
        assert_eq!(size_of_node(T::STRUCTURE_TYPE), Some(size_of::<T>()));
    }
    agrees::<vk::PhysicalDeviceVulkan12Features<'_>>();
    agrees::<vk::PhysicalDeviceFeatures2<'_>>();
    agrees::<vk::ShaderModuleCreateInfo<'_>>();
    agrees::<vk::DeviceGroupDeviceCreateInfo<'_>>();
    agrees::<vk::PhysicalDeviceSubgroupSizeControlFeatures<'_>>();
}

#[test]
fn hidden_nodes_are_out_of_the_chain_during_the_call_only() {
    with_chain(|chain| {
        let root: *mut c_void = chain.first.cast();
        for hidden in [&[MULTIVIEW][..], &[VULKAN_1_2], &[MULTIVIEW, VULKAN_1_2], &[]] {
            let mut seen = Vec::new();
            // SAFETY: the chain is valid and ours.
            unsafe { hiding(root, |s_type| hidden.contains(&s_type), || seen = types(root)) };
            let expected: Vec<i32> = [MAINTENANCE4, MULTIVIEW, VULKAN_1_2]
                .into_iter()
                .filter(|s_type| !hidden.contains(s_type))
                .map(StructureType::as_raw)
                .collect();
            assert_eq!(seen, expected);
            assert_eq!(
                types(root),
                [MAINTENANCE4, MULTIVIEW, VULKAN_1_2].map(StructureType::as_raw)
            );
        }
    });
}
