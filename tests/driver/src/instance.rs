//! `VkInstance`.

use crate::enumerate::{all_or_incomplete, extension, fill};
use crate::handle::{self, Allocator, LOADER_MAGIC, Out};
use crate::physical::PhysicalDevice;
use crate::settings::Settings;
use ash::vk::{self, Handle};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// An instance.
#[repr(C)]
pub struct Instance {
    _loader: usize,
    physical: Vec<usize>,
}

impl Drop for Instance {
    fn drop(&mut self) {
        for physical in &self.physical {
            // SAFETY: the instance created its physical devices, and they are not used without it.
            drop(unsafe { handle::take::<PhysicalDevice>(*physical as u64) });
        }
    }
}

const EXTENSIONS: [(&CStr, u32); 8] = [
    (ash::khr::get_physical_device_properties2::NAME, 2),
    (ash::khr::surface::NAME, 25),
    (ash::khr::get_surface_capabilities2::NAME, 1),
    (ash::ext::headless_surface::NAME, 1),
    (ash::khr::external_memory_capabilities::NAME, 1),
    (ash::khr::external_semaphore_capabilities::NAME, 1),
    (ash::khr::external_fence_capabilities::NAME, 1),
    (ash::khr::device_group_creation::NAME, 1),
];

#[allow(
    clippy::print_stderr,
    reason = "a test with a misspelt word has no other output channel"
)]
pub extern "system" fn create(_: *const c_void, allocator: Allocator<'_>, instance: Out<'_, usize>) -> vk::Result {
    let settings = match Settings::from_environment() {
        Ok(settings) => Arc::new(settings),
        Err(word) => {
            eprintln!("{}: unknown word {word:?}", crate::settings::VARIABLE);
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
    };
    let create = |index| PhysicalDevice::create(index, Arc::clone(&settings)) as usize;
    let created = Instance {
        _loader: LOADER_MAGIC,
        physical: (0..settings.devices).map(create).collect(),
    };
    handle::create_with(allocator, instance, created)
}

pub extern "system" fn destroy(instance: usize, allocator: Allocator<'_>) {
    // SAFETY: by the command's valid usage, the instance and its physical devices are not used afterwards.
    drop(unsafe { handle::take_with::<Instance>(allocator, instance as u64) });
}

pub extern "system" fn enumerate_physical_devices(
    instance: &Instance,
    count: &mut u32,
    devices: *mut usize,
) -> vk::Result {
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    unsafe { fill(&instance.physical, count, devices) }
}

/// All devices form one group.
pub extern "system" fn enumerate_groups(
    instance: &Instance,
    count: &mut u32,
    groups: *mut vk::PhysicalDeviceGroupProperties<'_>,
) -> vk::Result {
    let room = if groups.is_null() { 1 } else { (*count).min(1) };
    *count = room;
    if groups.is_null() || room == 0 {
        return all_or_incomplete(room == 1);
    }
    // SAFETY: by the command's valid usage, the array has room for a group.
    let group = unsafe { &mut *groups };
    let physical = instance
        .physical
        .iter()
        .map(|device| vk::PhysicalDevice::from_raw(*device as u64));
    group.physical_device_count = 0;
    for (to, from) in group.physical_devices.iter_mut().zip(physical) {
        *to = from;
        group.physical_device_count += 1;
    }
    group.subset_allocation = vk::FALSE;
    vk::Result::SUCCESS
}

pub extern "system" fn enumerate_extensions(
    layer: *const c_char,
    count: &mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    if !layer.is_null() {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    let all = EXTENSIONS.map(|(name, version)| extension(name, version));
    // SAFETY: by the command's valid usage, the list is null or has `count` elements.
    unsafe { fill(&all, count, properties) }
}

pub extern "system" fn version(version: Out<'_, u32>) -> vk::Result {
    version.write(vk::API_VERSION_1_3);
    vk::Result::SUCCESS
}
