//! Instances and their physical devices.

use super::binaries::Binaries;
use super::extensions::Extensions;
use super::stores::Stores;
use crate::loader::dispatch::InstanceTable;
use crate::loader::ffi::PfnGetPhysicalDeviceProcAddr;
use crate::locks::lock;
use crate::log::{Level, Log};
use crate::module_files::ModuleFiles;
use crate::settings::Settings;
use ash::vk;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use vkabort_record::site::ModuleHash;

/// An instance.
pub struct Instance {
    /// The next layer's functions.
    pub next: InstanceTable,
    /// The next layer's `vkGetInstanceProcAddr`.
    pub next_gipa: vk::PFN_vkGetInstanceProcAddr,
    /// The next layer's `vk_layerGetPhysicalDeviceProcAddr`.
    pub next_gpdpa: Option<PfnGetPhysicalDeviceProcAddr>,
    /// The layer's settings.
    pub settings: Settings,
    /// The layer's log.
    pub log: Log,
    /// Version of the instance below this layer, which may be higher than the application's.
    pub api_version: u32,
    /// Physical devices, each probed on its first use.
    pub physical: Mutex<HashMap<vk::PhysicalDevice, Arc<PhysicalDevice>>>,
    /// The application's debug-utils messengers.
    pub messengers: Mutex<Vec<Messenger>>,
    /// A device could not be drained and was leaked, so nothing below this layer may be destroyed any more.
    pub leaked: AtomicBool,
    /// Modules reported because the device did not enable what their aborts need.
    pub reported_modules: Mutex<BTreeSet<ModuleHash>>,
    /// Modules that run without checks of the sanitizer.
    pub unchecked_modules: Mutex<BTreeSet<ModuleHash>>,
    /// Kinds of code of which the log says that they run without checks.
    pub opaque_code: Mutex<BTreeSet<Opaque>>,
    /// Modules that are written to files or replaced by files.
    pub module_files: ModuleFiles,
    /// Shader binaries of its devices.
    pub binaries: Binaries,
}

/// Code that the layer passes on without its SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opaque {
    /// A pipeline's module, by an identifier that the device has not seen.
    Identifier,
    /// A binary of a shader object that none of the instance's devices has made.
    Binary,
}

/// A debug-utils messenger of the application.
#[derive(Clone, Copy)]
pub struct Messenger {
    /// Null for the messenger in the chain of `VkInstanceCreateInfo`.
    pub handle: vk::DebugUtilsMessengerEXT,
    /// Severities that it receives.
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    /// Message types that it receives.
    pub types: vk::DebugUtilsMessageTypeFlagsEXT,
    /// Its callback.
    pub callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    /// The callback's argument.
    pub user_data: *mut c_void,
}

// SAFETY: the layer never dereferences `user_data`; it only passes it to the callback, which Vulkan allows on any thread.
unsafe impl Send for Messenger {}

impl Messenger {
    /// Reads a create info.
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
    /// Whether modules matter on devices that do not use the extensions.
    pub fn sees_modules(&self) -> bool {
        self.log.is_enabled(Level::Error) || !self.module_files.is_off()
    }

    /// The data of a physical device. Runs `probe` on the first call for a handle.
    pub fn physical_device(
        &self,
        handle: vk::PhysicalDevice,
        probe: impl FnOnce() -> PhysicalDevice,
    ) -> Arc<PhysicalDevice> {
        if let Some(physical) = lock(&self.physical).get(&handle) {
            return Arc::clone(physical);
        }
        // Not under the lock, since probing calls the next layer. Two threads may both probe; their results are equal.
        let probed = Arc::new(probe());
        Arc::clone(lock(&self.physical).entry(handle).or_insert(probed))
    }
}

/// Capabilities of a physical device, and the extensions that the layer emulates on it.
#[derive(Default)]
pub struct PhysicalDevice {
    /// Its handle.
    pub handle: vk::PhysicalDevice,
    /// `deviceName`, for messages.
    pub name: String,
    /// Device extensions of the next layer.
    pub extensions: Vec<vk::ExtensionProperties>,
    /// The lower of the instance's and the device's API versions.
    pub api_version: u32,
    /// The driver runs on the CPU.
    pub cpu: bool,
    /// `vendorID`.
    pub vendor: u32,
    /// The GPU has memory of its own across a bus.
    pub discrete: bool,
    /// `deviceCoherentMemory` of `VK_AMD_device_coherent_memory`.
    pub device_coherent: bool,
    /// CPU driver that can import host memory for a buffer with a device address.
    pub imports: bool,
    /// Extensions that the driver lists. An application can enable them even if the layer emulates nothing.
    pub listed: Extensions,
    /// Extensions that the driver lists and supports the feature of.
    pub native: Extensions,
    /// Extensions that the layer emulates.
    pub emulated: Extensions,
    /// Why the layer cannot emulate any.
    pub reason: Option<String>,
    /// Stages with stores. The others are emulated under `emulation = partial`.
    pub stores: Stores,
    /// Iterations after which the driver ends every loop.
    pub loop_limit: Option<u32>,
    /// llvmpipe that jumps over blocks with branches ([`vkabort_instrument::Options::branches_at_exits`]), and executes others with no
    /// invocation ([`vkabort_instrument::Options::breaks_at_starts`]).
    pub jumps_over_branches: bool,
    /// llvmpipe that may crash at conditions on uniforms ([`vkabort_instrument::Options::opaque_conditions`]).
    pub inlines_uniforms: bool,
    /// Google's CPU driver.
    pub swiftshader: bool,
    /// `maxComputeSharedMemorySize`, in bytes.
    pub shared_memory: u32,
    /// `bufferDeviceAddressCaptureReplay`.
    pub capture_replay: bool,
    /// `vulkanMemoryModelDeviceScope`.
    pub device_scope: bool,
    /// `VK_EXT_device_fault` with its feature.
    pub ext_fault: bool,
    /// `deviceFaultVendorBinary` of `VK_EXT_device_fault`.
    pub ext_fault_vendor_binary: bool,
    /// Identifies device and driver.
    pub identity: String,
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
