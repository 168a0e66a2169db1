//! What a physical device can do, what its driver already has, and so what the layer provides on it.

use crate::arena;
use crate::device::state::{Extensions, Instance, PhysicalDevice};
use crate::loader::dispatch::InstanceTable;
use crate::loader::ffi::{FaultFeatures, OneFeature, stype};
use crate::report::log::Level;
use crate::settings::Emulation;
use ash::vk;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

/// Written into a feature struct before asking: if it is still there, nobody below knows the struct.
const POISON: vk::Bool32 = 0xCDCD_CDCD;

/// What is known of a physical device, found out on first use.
pub fn physical_device(instance: &Instance, handle: vk::PhysicalDevice) -> Arc<PhysicalDevice> {
    instance.physical_device(handle, || {
        let found = Prober { instance, handle }.run();
        if instance.log.takes(Level::Info) {
            instance.log.line(Level::Info, &describe(&found));
        }
        found
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
        "physical device {:?}: native: {}; emulated: {}",
        device.handle,
        list(device.native),
        list(device.emulated)
    );
    if let Some(reason) = &device.reason {
        text += &format!("; cannot emulate: {reason}");
    }
    text
}

/// The next layer's list of device extensions.
pub fn extensions(
    next: &InstanceTable,
    handle: vk::PhysicalDevice,
) -> Result<Vec<vk::ExtensionProperties>, vk::Result> {
    let get = next
        .vkEnumerateDeviceExtensionProperties
        .ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
    loop {
        let mut count = 0;
        // SAFETY: asks for the count.
        match unsafe { get(handle, ptr::null(), &mut count, ptr::null_mut()) } {
            vk::Result::SUCCESS => {}
            error => return Err(error),
        }
        let mut list = vec![vk::ExtensionProperties::default(); count as usize];
        // SAFETY: the list has as many elements as the count says.
        match unsafe { get(handle, ptr::null(), &mut count, list.as_mut_ptr()) } {
            vk::Result::SUCCESS => {
                list.truncate(count as usize);
                return Ok(list);
            }
            // The list has grown in between.
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
        // SAFETY: a valid physical device, and structures of ours.
        unsafe {
            if let Some(get) = next.vkGetPhysicalDeviceProperties {
                get(self.handle, &mut properties);
            }
            if let Some(get) = next.vkGetPhysicalDeviceFeatures {
                get(self.handle, &mut features);
            }
        }
        let mut found = PhysicalDevice {
            handle: self.handle,
            extensions: extensions(next, self.handle).unwrap_or_default(),
            api_version: self.instance.api_version.min(properties.api_version),
            cpu: properties.device_type == vk::PhysicalDeviceType::CPU,
            discrete: properties.device_type == vk::PhysicalDeviceType::DISCRETE_GPU,
            device_coherent: false,
            imports: false,
            listed: Extensions::default(),
            native: Extensions::default(),
            emulated: Extensions::default(),
            reason: None,
            capture_replay: false,
            device_scope: false,
            ext_fault: false,
            ext_fault_vendor_binary: false,
            identity: self.identity(&properties),
        };
        if found.at_least(vk::API_VERSION_1_1) {
            found.listed = Extensions::of(found.extensions.iter().filter_map(|e| e.extension_name_as_c_str().ok()));
            found.native = self.native(found.listed);
        }
        let missing = self.requirements(&mut found, &features);
        // Asked about a buffer with a device address: only of drivers that can have one.
        found.imports =
            missing.is_none() && found.cpu && found.has(vk::EXT_EXTERNAL_MEMORY_HOST_NAME) && self.imports();
        found.emulated = match self.instance.settings.emulation {
            Emulation::Off => Extensions::default(),
            Emulation::Auto if missing.is_none() => Extensions::ALL.without(found.native),
            Emulation::Force if missing.is_none() => Extensions::ALL,
            _ => Extensions::default(),
        };
        found.reason = missing;
        found
    }

    /// Why the extensions cannot be provided, if so.
    fn requirements(&self, found: &mut PhysicalDevice, features: &vk::PhysicalDeviceFeatures) -> Option<String> {
        if !found.at_least(vk::API_VERSION_1_1) {
            let version = found.api_version;
            return Some(format!(
                "Vulkan 1.1 is needed, and instance and device together offer {}.{}",
                vk::api_version_major(version),
                vk::api_version_minor(version)
            ));
        }
        let core_1_2 = found.at_least(vk::API_VERSION_1_2);
        let has = |name: &CStr| found.has(name);
        let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
        if core_1_2 || has(vk::KHR_BUFFER_DEVICE_ADDRESS_NAME) {
            self.ask(&mut address);
        }
        let mut memory_model = vk::PhysicalDeviceVulkanMemoryModelFeatures::default();
        if core_1_2 || has(vk::KHR_VULKAN_MEMORY_MODEL_NAME) {
            self.ask(&mut memory_model);
        }
        let mut fault = vk::PhysicalDeviceFaultFeaturesEXT::default();
        if has(vk::EXT_DEVICE_FAULT_NAME) {
            self.ask(&mut fault);
        }
        let mut coherent = vk::PhysicalDeviceCoherentMemoryFeaturesAMD::default();
        if has(vk::AMD_DEVICE_COHERENT_MEMORY_NAME) {
            self.ask(&mut coherent);
        }
        let below_1_2 = match core_1_2 || has(vk::KHR_BUFFER_DEVICE_ADDRESS_NAME) {
            true => "",
            false => " (without VK_KHR_buffer_device_address, an instance of Vulkan 1.2 is needed)",
        };
        found.device_coherent = coherent.device_coherent_memory == vk::TRUE;
        found.capture_replay = address.buffer_device_address_capture_replay == vk::TRUE;
        found.device_scope = memory_model.vulkan_memory_model_device_scope == vk::TRUE;
        found.ext_fault = fault.device_fault == vk::TRUE;
        found.ext_fault_vendor_binary = fault.device_fault_vendor_binary == vk::TRUE;
        let needs = [
            (address.buffer_device_address, "bufferDeviceAddress"),
            (
                features.vertex_pipeline_stores_and_atomics,
                "vertexPipelineStoresAndAtomics",
            ),
            (features.fragment_stores_and_atomics, "fragmentStoresAndAtomics"),
        ];
        let missing: Vec<&str> = needs
            .iter()
            .filter(|(has, _)| *has != vk::TRUE)
            .map(|(_, n)| *n)
            .collect();
        (!missing.is_empty()).then(|| format!("the driver lacks {}{below_1_2}", missing.join(", ")))
    }

    /// Whether the driver says that buffers like the arena's can have imported host memory. Not all that can do it say so.
    fn imports(&self) -> bool {
        let info = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(arena::USAGE)
            .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT);
        let mut properties = vk::ExternalBufferProperties::default();
        if let Some(get) = self.instance.next.vkGetPhysicalDeviceExternalBufferProperties {
            // SAFETY: a valid physical device of Vulkan 1.1, and structures of ours.
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

    /// Which of the extensions the driver lists it also has the feature of.
    fn native(&self, listed: Extensions) -> Extensions {
        let one = |listed: bool, s_type| {
            let mut features = OneFeature {
                s_type,
                next: ptr::null_mut(),
                feature: POISON,
            };
            // Not asked unless it is listed: layers below complain about structs of extensions that nobody has.
            listed && {
                self.ask_raw(ptr::from_mut(&mut features).cast());
                features.feature == vk::TRUE
            }
        };
        let mut fault = FaultFeatures {
            s_type: stype::FAULT_FEATURES,
            next: ptr::null_mut(),
            device_fault: POISON,
            device_fault_vendor_binary: POISON,
            device_fault_report_masked: POISON,
            device_fault_device_lost_on_masked: POISON,
        };
        if listed.fault {
            self.ask_raw(ptr::from_mut(&mut fault).cast());
        }
        let mut native = Extensions {
            abort: one(listed.abort, stype::SHADER_ABORT_FEATURES),
            fault: fault.device_fault == vk::TRUE,
            constant_data: one(listed.constant_data, stype::SHADER_CONSTANT_DATA_FEATURES),
        };
        // It depends on the other two: without them it is not what applications expect, and the layer's own is.
        native.abort &= native.fault && native.constant_data;
        native
    }

    fn ask<T: vk::ExtendsPhysicalDeviceFeatures2>(&self, features: &mut T) {
        self.ask_raw(ptr::from_mut(features).cast());
    }

    /// `features` must be one feature struct.
    fn ask_raw(&self, features: *mut c_void) {
        let mut all = vk::PhysicalDeviceFeatures2 {
            p_next: features,
            ..Default::default()
        };
        if let Some(get) = self.instance.next.features2() {
            // SAFETY: a valid physical device, and structures of ours.
            unsafe { get(self.handle, &mut all) };
        }
    }

    /// Which driver on which device, as far as it can be told.
    fn identity(&self, properties: &vk::PhysicalDeviceProperties) -> [u8; 32] {
        let mut ids = vk::PhysicalDeviceIDProperties::default();
        if self.instance.api_version.min(properties.api_version) >= vk::API_VERSION_1_1
            && let Some(get) = self.instance.next.properties2()
        {
            let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut ids);
            // SAFETY: as above.
            unsafe { get(self.handle, &mut all) };
        }
        let mut identity = [0; 32];
        let bytes = ids.device_uuid.iter().chain(&properties.pipeline_cache_uuid);
        for (to, from) in identity.iter_mut().zip(bytes) {
            *to = *from;
        }
        identity
    }
}
