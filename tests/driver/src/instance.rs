//! `VkInstance` and its physical devices.

use crate::handle::{self, LOADER_MAGIC};
use crate::physical;
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

/// A physical device.
#[repr(C)]
pub struct PhysicalDevice {
    loader: usize,
    /// Which one.
    pub index: usize,
    /// What it does.
    pub settings: Arc<Settings>,
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

#[allow(clippy::print_stderr, reason = "a test with a misspelt word has to say so")]
pub unsafe extern "system" fn create(
    _: *const vk::InstanceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    let settings = match Settings::of_environment() {
        Ok(settings) => Arc::new(settings),
        Err(word) => {
            eprintln!("{}: {word:?} is not known", crate::settings::VARIABLE);
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
    };
    let physical = (0..settings.devices).map(|index| {
        handle::make(PhysicalDevice {
            loader: LOADER_MAGIC,
            index,
            settings: Arc::clone(&settings),
        })
    });
    let physical = physical.collect();
    let made = handle::make(Instance {
        loader: LOADER_MAGIC,
        settings,
        physical,
    });
    // SAFETY: valid by the API's rules.
    unsafe { instance.write(vk::Instance::from_raw(made)) };
    vk::Result::SUCCESS
}

pub unsafe extern "system" fn destroy(instance: vk::Instance, _: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: the application's last use of the instance and of its physical devices.
    unsafe {
        if let Some(known) = handle::take::<Instance>(instance.as_raw()) {
            debug_assert!(known.loader != 0 && known.settings.devices == known.physical.len());
            for physical in known.physical {
                handle::take::<PhysicalDevice>(physical).map(|device| device.loader);
            }
        }
    }
}

pub unsafe extern "system" fn enumerate_physical_devices(
    instance: vk::Instance,
    count: *mut u32,
    devices: *mut vk::PhysicalDevice,
) -> vk::Result {
    // SAFETY: as the API has it.
    unsafe {
        let Some(known) = handle::get::<Instance>(instance.as_raw()) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let all: Vec<_> = known
            .physical
            .iter()
            .map(|raw| vk::PhysicalDevice::from_raw(*raw))
            .collect();
        physical::fill(&all, count, devices)
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
        .map(|(name, version)| physical::extension(name, *version))
        .collect();
    // SAFETY: as the API has it.
    unsafe { physical::fill(&all, count, properties) }
}

pub unsafe extern "system" fn version(version: *mut u32) -> vk::Result {
    // SAFETY: valid by the API's rules.
    unsafe { version.write(vk::API_VERSION_1_3) };
    vk::Result::SUCCESS
}
