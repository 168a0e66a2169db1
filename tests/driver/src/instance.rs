//! `VkInstance`.

use crate::enumerate::{extension, fill};
use crate::handle::{self, LOADER_MAGIC};
use crate::physical::PhysicalDevice;
use crate::settings::Settings;
use ash::vk::{self, Handle};
use std::ffi::{CStr, c_char};
use std::sync::Arc;

/// An instance.
#[repr(C)]
pub struct Instance {
    loader: usize,
    settings: Arc<Settings>,
    physical: Vec<u64>,
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
pub unsafe extern "system" fn create(
    _: *const vk::InstanceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    let settings = match Settings::from_environment() {
        Ok(settings) => Arc::new(settings),
        Err(word) => {
            eprintln!("{}: unknown word {word:?}", crate::settings::VARIABLE);
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
    };
    let physical = (0..settings.devices)
        .map(|index| PhysicalDevice::create(index, Arc::clone(&settings)))
        .collect();
    let created = handle::create(Instance {
        loader: LOADER_MAGIC,
        settings,
        physical,
    });
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { instance.write(vk::Instance::from_raw(created)) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy(instance: vk::Instance, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: by the command's valid usage, the instance and its physical devices are not used afterwards.
    unsafe {
        if let Some(instance) = handle::take::<Instance>(instance.as_raw()) {
            debug_assert!(instance.loader != 0 && instance.settings.devices == instance.physical.len());
            for physical in instance.physical {
                handle::destroy::<PhysicalDevice>(physical);
            }
        }
    }
}

pub unsafe extern "system" fn enumerate_physical_devices(
    instance: vk::Instance,
    count: *mut u32,
    devices: *mut vk::PhysicalDevice,
) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe {
        let Some(instance) = handle::get::<Instance>(instance.as_raw()) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let all: Vec<_> = instance
            .physical
            .iter()
            .map(|raw| vk::PhysicalDevice::from_raw(*raw))
            .collect();
        fill(&all, count, devices)
    }
}

pub unsafe extern "system" fn enumerate_extensions(
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    if !layer.is_null() {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    let all: Vec<_> = EXTENSIONS
        .iter()
        .map(|(name, version)| extension(name, *version))
        .collect();
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { fill(&all, count, properties) }
}

pub unsafe extern "system" fn version(version: *mut u32) -> vk::Result {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { version.write(vk::API_VERSION_1_3) };
    vk::Result::SUCCESS
}
