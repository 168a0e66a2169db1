//! Applications' structures of unknown types, behind which nothing can be changed.

use super::*;

/// A structure of a type that the layer does not know, followed by `tail`.
fn unknown(tail: *const c_void) -> vk::BaseInStructure<'static> {
    vk::BaseInStructure {
        s_type: StructureType::from_raw(1_999_999_000),
        p_next: tail.cast(),
        ..Default::default()
    }
}

/// Edits a create-info with the structures at `tail` behind one of unknown size.
fn edit_behind_unknown(tail: *const c_void) -> Result<(EditedCreateInfo, Vec<StructureType>), Refusal> {
    let unknown = unknown(tail);
    let mut app = App::new(&[]);
    let info = app.info(ptr::from_ref(&unknown).cast());
    let edited = edit(&info, &device(vk::API_VERSION_1_3, &[]))?;
    let below = edited.create_info(&info);
    let types = types(below.p_next);
    Ok((edited, types))
}

#[test]
fn features_behind_an_unknown_structure_may_be_on_already() {
    let core = vk::PhysicalDeviceVulkan12Features::default()
        .buffer_device_address(true)
        .buffer_device_address_capture_replay(true);
    let mut all = vk::PhysicalDeviceFeatures2::default();
    all.features.vertex_pipeline_stores_and_atomics = 1;
    all.features.fragment_stores_and_atomics = 1;
    all.p_next = ptr::from_ref(&core).cast_mut().cast();
    let (edited, types) = edit_behind_unknown(ptr::from_ref(&all).cast()).expect("the device can be created");
    assert_eq!(types, [StructureType::from_raw(1_999_999_000), FEATURES_2, VULKAN_1_2]);
    assert!(
        edited.capture_replay && edited.warnings.is_empty(),
        "{:?}",
        edited.warnings
    );
}

#[test]
fn missing_features_behind_an_unknown_structure_are_enabled_by_structures_of_the_layer() {
    let model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
    let (edited, types) = edit_behind_unknown(ptr::from_ref(&model).cast()).expect("the device can be created");
    assert_eq!(types, [ADDRESS, StructureType::from_raw(1_999_999_000), MEMORY_MODEL]);
    assert!(edited.capture_replay && edited.features.len() == 1);
    assert!(edited.warnings.is_empty(), "{:?}", edited.warnings);
}

#[test]
fn an_optional_feature_behind_an_unknown_structure_is_given_up_with_a_warning() {
    let core = vk::PhysicalDeviceVulkan12Features::default()
        .buffer_device_address(true)
        .vulkan_memory_model(true);
    let (edited, _) = edit_behind_unknown(ptr::from_ref(&core).cast()).expect("the device can be created");
    assert!(!edited.capture_replay);
    let [replay, scope] = edited.warnings.as_slice() else {
        panic!("{:?}", edited.warnings);
    };
    assert!(
        replay.contains("cannot enable bufferDeviceAddressCaptureReplay"),
        "{replay}"
    );
    assert!(scope.contains("cannot enable vulkanMemoryModelDeviceScope"), "{scope}");
}

#[test]
fn a_required_feature_behind_an_unknown_structure_is_refused_by_name() {
    let core = vk::PhysicalDeviceVulkan12Features::default();
    let all = vk::PhysicalDeviceFeatures2::default();
    let addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    for (tail, feature) in [
        (ptr::from_ref(&core).cast(), "bufferDeviceAddress"),
        (ptr::from_ref(&addresses).cast(), "bufferDeviceAddress"),
        (ptr::from_ref(&all).cast(), "fragmentStoresAndAtomics"),
    ] {
        let refusal = edit_behind_unknown(tail)
            .err()
            .expect("the features are off and cannot be changed");
        assert_eq!(refusal.result, vk::Result::ERROR_INITIALIZATION_FAILED);
        assert!(
            refusal.reason.contains(feature) && refusal.reason.contains("type 1999999000"),
            "{}",
            refusal.reason
        );
    }
}
