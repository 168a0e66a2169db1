//! The object behind `VkPhysicalDevice`.

use crate::handle::{self, LOADER_MAGIC};
use crate::settings::Settings;
use ash::vk::{self, Handle};
use std::sync::Arc;

/// A physical device.
#[repr(C)]
pub struct PhysicalDevice {
    loader: usize,
    /// Index in the instance.
    pub index: usize,
    /// Behaviour of the device.
    pub settings: Arc<Settings>,
}

impl PhysicalDevice {
    /// Creates a physical device and returns its handle.
    pub fn create(index: usize, settings: Arc<Settings>) -> u64 {
        handle::create(Self {
            loader: LOADER_MAGIC,
            index,
            settings,
        })
    }
}

impl Drop for PhysicalDevice {
    fn drop(&mut self) {
        debug_assert!(self.loader != 0);
    }
}

/// Physical device behind a handle.
///
/// # Safety
/// `device` must be a live physical device.
pub unsafe fn physical_device<'a>(device: vk::PhysicalDevice) -> &'a PhysicalDevice {
    // SAFETY: the caller passes a live physical device.
    unsafe { handle::get(device.as_raw()) }.expect("a live physical device")
}
