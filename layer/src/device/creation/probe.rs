//! Probes the capabilities of a physical device, and selects the extensions that the layer emulates on it.

use crate::arena;
use crate::device::creation::identity::identity;
use crate::device::creation::loop_limit::loop_limit;
use crate::device::state::{Extensions, Instance, PhysicalDevice, Stores};
use crate::loader::dispatch::InstanceTable;
use crate::log::Level;
use crate::settings::Emulation;
use ash::vk;
use std::ffi::CStr;
use std::ptr;
use std::sync::Arc;
use vk_ext::{FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};

/// Initial value of queried features. A feature that still has it was not written, so no layer or driver below supports it.
const POISON: vk::Bool32 = 0xCDCD_CDCD;

/// The capabilities of a physical device, probed on first use: drivers may crash on queries during `vkCreateInstance`.
pub fn physical_device(instance: &Instance, handle: vk::PhysicalDevice) -> Arc<PhysicalDevice> {
    instance.physical_device(handle, || {
        let device = Prober { instance, handle }.run();
        if instance.log.is_enabled(Level::Info) {
            instance.log.line(Level::Info, &describe(&device));
        }
        device
    })
}

fn describe(device: &PhysicalDevice) -> String {
    let list = |extensions: Extensions| {
        let names: Vec<_> = extensions.names().map(CStr::to_string_lossy).collect();
        if names.is_empty() {
            "none".into()
        } else {
            names.join(", ")
        }
    };
    let mut text = format!(
        "physical device `{}`: native: {}; emulated: {}",
        device.name,
        list(device.native),
        list(device.emulated)
    );
    match &device.reason {
        Some(reason) => text += &format!("; cannot emulate: {reason}"),
        None if device.emulated.abort => text.extend(device.stores.restriction().map(|text| format!("; {text}"))),
        None => {}
    }
    text
}

/// The next layer's list of device extensions.
///
/// # Errors
/// The result of `vkEnumerateDeviceExtensionProperties`.
pub fn extensions(
    next: &InstanceTable,
    handle: vk::PhysicalDevice,
) -> Result<Vec<vk::ExtensionProperties>, vk::Result> {
    let get = next
        .vkEnumerateDeviceExtensionProperties
        .ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
    loop {
        let mut count = 0;
        // SAFETY: a live physical device; a null list queries the count.
        match unsafe { get(handle, ptr::null(), &mut count, ptr::null_mut()) } {
            vk::Result::SUCCESS => {}
            error => return Err(error),
        }
        let mut list = vec![vk::ExtensionProperties::default(); count as usize];
        // SAFETY: the list has `count` elements.
        match unsafe { get(handle, ptr::null(), &mut count, list.as_mut_ptr()) } {
            vk::Result::SUCCESS => {
                list.truncate(count as usize);
                return Ok(list);
            }
            // The list grew between the calls.
            vk::Result::INCOMPLETE => {}
            error => return Err(error),
        }
    }
}

struct Prober<'a> {
    instance: &'a Instance,
    handle: vk::PhysicalDevice,
}

impl Prober<'_> {
    fn run(&self) -> PhysicalDevice {
        let next = &self.instance.next;
        let mut properties = vk::PhysicalDeviceProperties::default();
        let mut features = vk::PhysicalDeviceFeatures::default();
        // SAFETY: a live physical device, and local structures.
        unsafe {
            if let Some(get) = next.vkGetPhysicalDeviceProperties {
                get(self.handle, &mut properties);
            }
            if let Some(get) = next.vkGetPhysicalDeviceFeatures {
                get(self.handle, &mut features);
            }
        }
        let name = properties.device_name_as_c_str().unwrap_or(c"unnamed");
        let mut found = PhysicalDevice {
            handle: self.handle,
            name: name.to_string_lossy().into_owned(),
            extensions: extensions(next, self.handle).unwrap_or_default(),
            api_version: self.instance.api_version.min(properties.api_version),
            cpu: properties.device_type == vk::PhysicalDeviceType::CPU,
            vendor: properties.vendor_id,
            discrete: properties.device_type == vk::PhysicalDeviceType::DISCRETE_GPU,
            stores: Stores {
                vertex: features.vertex_pipeline_stores_and_atomics == vk::TRUE,
                fragment: features.fragment_stores_and_atomics == vk::TRUE,
            },
            shared_memory: properties.limits.max_compute_shared_memory_size,
            identity: self.identity(&properties),
            ..PhysicalDevice::default()
        };
        if found.at_least(vk::API_VERSION_1_1) {
            found.listed = Extensions::of(found.extensions.iter().filter_map(|e| e.extension_name_as_c_str().ok()));
            found.native = self.native(found.listed);
        }
        if found.at_least(vk::API_VERSION_1_2) || found.has(vk::KHR_DRIVER_PROPERTIES_NAME) {
            let driver = self.queried_properties(vk::PhysicalDeviceDriverProperties::default());
            found.loop_limit = loop_limit(&driver);
            found.jumps_over_branches = driver.driver_id == vk::DriverId::MESA_LLVMPIPE && found.loop_limit.is_none();
            // Mesa 22.3 crashes, and 25.0 does not: the versions in between count as the former.
            found.inlines_uniforms = found.loop_limit.is_some();
            found.swiftshader = driver.driver_id == vk::DriverId::GOOGLE_SWIFTSHADER;
        }
        let missing = self.requirements(&mut found);
        // The query is about a buffer with a device address, which only drivers without missing features support.
        found.imports =
            missing.is_none() && found.cpu && found.has(vk::EXT_EXTERNAL_MEMORY_HOST_NAME) && self.imports();
        found.emulated = match self.instance.settings.emulation {
            Emulation::Off => Extensions::default(),
            Emulation::Auto | Emulation::Partial if missing.is_none() => Extensions::ALL.without(found.native),
            Emulation::Force if missing.is_none() => Extensions::ALL,
            _ => Extensions::default(),
        };
        found.reason = missing;
        found
    }

    /// Fills in the features of `found`. Returns why the extensions cannot be emulated, if they cannot.
    fn requirements(&self, found: &mut PhysicalDevice) -> Option<String> {
        if !found.at_least(vk::API_VERSION_1_1) {
            let version = found.api_version;
            return Some(format!(
                "Vulkan 1.1 is required; the instance and the device together support {}.{}",
                vk::api_version_major(version),
                vk::api_version_minor(version)
            ));
        }
        let core_1_2 = found.at_least(vk::API_VERSION_1_2);
        let has = |name: &CStr| found.has(name);
        let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
        if core_1_2 || has(vk::KHR_BUFFER_DEVICE_ADDRESS_NAME) {
            address = self.queried(address);
        }
        let mut memory_model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
        if core_1_2 || has(vk::KHR_VULKAN_MEMORY_MODEL_NAME) {
            memory_model = self.queried(memory_model);
        }
        let mut fault = vk::PhysicalDeviceFaultFeaturesEXT::default();
        if has(vk::EXT_DEVICE_FAULT_NAME) {
            fault = self.queried(fault);
        }
        let mut coherent = vk::PhysicalDeviceCoherentMemoryFeaturesAMD::default();
        if has(vk::AMD_DEVICE_COHERENT_MEMORY_NAME) {
            coherent = self.queried(coherent);
        }
        let below_1_2 = match core_1_2 || has(vk::KHR_BUFFER_DEVICE_ADDRESS_NAME) {
            true => "",
            false => " (without VK_KHR_buffer_device_address, Vulkan 1.2 is required)",
        };
        found.device_coherent = coherent.device_coherent_memory == vk::TRUE;
        found.capture_replay = address.buffer_device_address_capture_replay == vk::TRUE;
        found.device_scope = memory_model.vulkan_memory_model_device_scope == vk::TRUE;
        found.ext_fault = fault.device_fault == vk::TRUE;
        found.ext_fault_vendor_binary = fault.device_fault_vendor_binary == vk::TRUE;
        let has_addresses = address.buffer_device_address == vk::TRUE;
        let is_partial = self.instance.settings.emulation == Emulation::Partial;
        let missing: Vec<&str> = (!has_addresses)
            .then_some("bufferDeviceAddress")
            .into_iter()
            .chain(found.stores.missing().filter(|_| !is_partial))
            .collect();
        let remedy = match has_addresses {
            true => "; emulation = partial emulates the other shader stages",
            false => below_1_2,
        };
        (!missing.is_empty()).then(|| format!("the driver lacks {}{remedy}", missing.join(", ")))
    }

    /// Whether the driver advertises the import of host memory for buffers like the arena's.
    fn imports(&self) -> bool {
        let info = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(arena::USAGE)
            .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        let mut properties = vk::ExternalBufferProperties::default();
        if let Some(get) = self.instance.next.vkGetPhysicalDeviceExternalBufferProperties {
            // SAFETY: a live physical device of Vulkan 1.1, and local structures.
            unsafe { get(self.handle, &info, &mut properties) };
        }
        let external = properties.external_memory_properties;
        external
            .external_memory_features
            .contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
            && external
                .compatible_handle_types
                .contains(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT)
    }

    /// The listed extensions whose feature the driver supports.
    fn native(&self, listed: Extensions) -> Extensions {
        let abort = ShaderAbortFeatures {
            shader_abort: POISON,
            ..Default::default()
        };
        let fault = FaultFeatures {
            device_fault: POISON,
            ..Default::default()
        };
        let constant_data = ShaderConstantDataFeatures {
            shader_constant_data: POISON,
            ..Default::default()
        };
        // Only queried where listed: layers below warn about structures of extensions that are not supported.
        let mut native = Extensions {
            abort: listed.abort && self.queried(abort).shader_abort == vk::TRUE,
            fault: listed.fault && self.queried(fault).device_fault == vk::TRUE,
            constant_data: listed.constant_data && self.queried(constant_data).shader_constant_data == vk::TRUE,
        };
        // VK_KHR_shader_abort depends on the other two.
        native.abort &= native.fault && native.constant_data;
        native
    }

    /// A structure of features, as the next layer fills it.
    fn queried<T: vk::ExtendsPhysicalDeviceFeatures2>(&self, mut features: T) -> T {
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
        let next = &self.instance.next;
        let get = next
            .vkGetPhysicalDeviceFeatures2
            .or(next.vkGetPhysicalDeviceFeatures2KHR);
        if let Some(get) = get {
            // SAFETY: a live physical device, and local structures.
            unsafe { get(self.handle, &mut all) };
        }
        features
    }

    /// A structure of properties, as the next layer fills it.
    fn queried_properties<T: vk::ExtendsPhysicalDeviceProperties2>(&self, mut properties: T) -> T {
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        let next = &self.instance.next;
        let get = next
            .vkGetPhysicalDeviceProperties2
            .or(next.vkGetPhysicalDeviceProperties2KHR);
        if let Some(get) = get {
            // SAFETY: a live physical device, and local structures.
            unsafe { get(self.handle, &mut all) };
        }
        properties
    }

    fn identity(&self, properties: &vk::PhysicalDeviceProperties) -> String {
        let mut ids = vk::PhysicalDeviceIDProperties::default();
        if self.instance.api_version.min(properties.api_version) >= vk::API_VERSION_1_1 {
            ids = self.queried_properties(ids);
        }
        identity(properties, &ids)
    }
}
