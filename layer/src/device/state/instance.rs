//! An instance and what was found out about its physical devices.

use super::{Binaries, Extensions};
use crate::loader::dispatch::InstanceTable;
use crate::loader::ffi::PfnGetPhysicalDeviceProcAddr;
use crate::locks::lock;
use crate::report::log::Log;
use crate::settings::Settings;
use ash::vk;
use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// An instance.
pub struct Instance {
    /// Its handle.
    pub handle: vk::Instance,
    /// The next layer's functions.
    pub next: InstanceTable,
    /// The next layer's `vkGetInstanceProcAddr`.
    pub next_gipa: vk::PFN_vkGetInstanceProcAddr,
    /// The next layer's `vk_layerGetPhysicalDeviceProcAddr`.
    pub next_gpdpa: Option<PfnGetPhysicalDeviceProcAddr>,
    /// What the user has set.
    pub settings: Settings,
    /// Where messages go.
    pub log: Log,
    /// `VkApplicationInfo::apiVersion`, 1.0 if it was not given.
    pub api_version: u32,
    /// Physical devices that were asked about, filled on first use.
    pub physical: Mutex<HashMap<vk::PhysicalDevice, Arc<PhysicalDevice>>>,
    /// The application's debug-utils messengers.
    pub messengers: Mutex<Vec<Messenger>>,
    /// A device could not be drained and was leaked: nothing below may be torn down any more.
    pub leaked: AtomicBool,
    /// Shader binaries of its devices.
    pub binaries: Binaries,
}

/// A debug-utils messenger of the application.
#[derive(Clone, Copy)]
pub struct Messenger {
    /// Null for the one given in `VkInstanceCreateInfo`'s chain.
    pub handle: vk::DebugUtilsMessengerEXT,
    /// Which severities it wants.
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    /// Which types it wants.
    pub types: vk::DebugUtilsMessageTypeFlagsEXT,
    /// Its callback.
    pub callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    /// The callback's argument.
    pub user_data: *mut c_void,
}

// SAFETY: the pointer is the application's own, only handed back to its callback, which the API allows to be called from
// any thread.
unsafe impl Send for Messenger {}

impl Messenger {
    /// Reads a create-info.
    pub fn new(handle: vk::DebugUtilsMessengerEXT, info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> Self {
        Self {
            handle,
            severity: info.message_severity,
            types: info.message_type,
            callback: info.pfn_user_callback,
            user_data: info.p_user_data,
        }
    }
}

impl Instance {
    /// What is known of a physical device; `probe` finds it out the first time.
    pub fn physical_device(
        &self,
        handle: vk::PhysicalDevice,
        probe: impl FnOnce() -> PhysicalDevice,
    ) -> Arc<PhysicalDevice> {
        if let Some(known) = lock(&self.physical).get(&handle) {
            return Arc::clone(known);
        }
        // Not under the lock: probing calls down. Two threads may both probe; the answers are equal.
        let probed = Arc::new(probe());
        Arc::clone(lock(&self.physical).entry(handle).or_insert(probed))
    }
}

/// What a physical device can do and what the layer does for it.
pub struct PhysicalDevice {
    /// Its handle.
    pub handle: vk::PhysicalDevice,
    /// The next layer's list of device extensions.
    pub extensions: Vec<vk::ExtensionProperties>,
    /// The lower of the instance's and the device's API versions.
    pub api_version: u32,
    /// The driver runs on the CPU.
    pub cpu: bool,
    /// A GPU with memory of its own behind a bus.
    pub discrete: bool,
    /// `deviceCoherentMemory` of `VK_AMD_device_coherent_memory`.
    pub device_coherent: bool,
    /// Host memory can be imported for a buffer with a device address, on a CPU driver.
    pub imports: bool,
    /// Extensions that the driver lists: whatever the layer does, they can be enabled.
    pub listed: Extensions,
    /// Extensions that the driver lists and has the feature of.
    pub native: Extensions,
    /// Extensions that the layer provides.
    pub emulated: Extensions,
    /// Why the layer provides none, if it cannot.
    pub reason: Option<String>,
    /// `bufferDeviceAddressCaptureReplay`.
    pub capture_replay: bool,
    /// `vulkanMemoryModelDeviceScope`.
    pub device_scope: bool,
    /// `VK_EXT_device_fault` with its feature.
    pub ext_fault: bool,
    /// `deviceFaultVendorBinary` of `VK_EXT_device_fault`.
    pub ext_fault_vendor_binary: bool,
    /// `VkPhysicalDeviceIDProperties::deviceUUID` and the pipeline cache UUID: which driver on which device.
    pub identity: [u8; 32],
}

impl PhysicalDevice {
    /// Whether the next layer lists an extension.
    pub fn has(&self, name: &CStr) -> bool {
        self.extensions
            .iter()
            .any(|e| e.extension_name_as_c_str().is_ok_and(|n| n == name))
    }

    /// Whether a core version is available.
    pub fn at_least(&self, version: u32) -> bool {
        self.api_version >= version
    }
}
