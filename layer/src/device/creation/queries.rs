//! Queries a physical device for the creation of a device: memory types and queue families.

use crate::arena::memory_type::MemoryPreference;
use crate::device::state::{Instance, PhysicalDevice};
use ash::vk;

/// The memory types of a physical device.
pub fn memory_types(instance: &Instance, physical: vk::PhysicalDevice) -> vk::PhysicalDeviceMemoryProperties {
    let mut types = vk::PhysicalDeviceMemoryProperties::default();
    if let Some(get) = instance.next.vkGetPhysicalDeviceMemoryProperties {
        // SAFETY: a live physical device, and a local structure.
        unsafe { get(physical, &mut types) };
    }
    types
}

/// The preferred memory of an arena on this physical device.
pub fn memory_preference(instance: &Instance, physical: &PhysicalDevice) -> MemoryPreference {
    MemoryPreference {
        memory: instance.settings.memory,
        control: instance.settings.control_block,
        discrete: physical.discrete,
        device_coherent: physical.device_coherent,
    }
}

/// The capabilities of a physical device's queue families, by family index.
pub(super) fn families(instance: &Instance, physical: vk::PhysicalDevice) -> Vec<vk::QueueFlags> {
    let Some(get) = instance.next.vkGetPhysicalDeviceQueueFamilyProperties else {
        return Vec::new();
    };
    let mut count = 0;
    // SAFETY: a live physical device; a null list queries the count.
    unsafe { get(physical, &mut count, std::ptr::null_mut()) };
    let mut list = vec![vk::QueueFamilyProperties::default(); count as usize];
    // SAFETY: the list has `count` elements.
    unsafe { get(physical, &mut count, list.as_mut_ptr()) };
    list.truncate(count as usize);
    list.iter().map(|family| family.queue_flags).collect()
}
