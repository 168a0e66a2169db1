//! The instance and the physical device under test.

use super::result::show;
use crate::verdict::{CheckOutput, Stop};
use ash::vk;
use serde_json::{Value as Json, json};
use std::ffi::{CStr, CString};
use std::ops::Deref;
use std::ptr;
use vk_ext::{FaultFeatures, FaultProperties, ShaderAbortFeatures, ShaderAbortProperties, ShaderConstantDataFeatures};
use vkabort_test_kit::device_choice::Refusal;
use vkabort_test_kit::vk as kit;

/// A physical device and its instance.
pub struct Gpu {
    kit: kit::Gpu,
    /// A queue family with compute support.
    pub(super) family: u32,
    /// `timestampValidBits` of the queue family.
    pub timestamp_bits: u32,
    extensions: Vec<vk::ExtensionProperties>,
    /// The queries by the names of `VK_KHR_get_physical_device_properties2`.
    khr: ash::khr::get_physical_device_properties2::Instance,
}

impl Deref for Gpu {
    type Target = kit::Gpu;

    fn deref(&self) -> &Self::Target {
        &self.kit
    }
}

/// Features and limits of the extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answers {
    /// `shaderAbort`
    pub shader_abort: vk::Bool32,
    /// `deviceFault`
    pub device_fault: vk::Bool32,
    /// `shaderConstantData`
    pub shader_constant_data: vk::Bool32,
    /// `maxShaderAbortMessageSize`
    pub max_message_size: u64,
    /// `maxDeviceFaultCount`
    pub max_fault_count: u32,
}

/// How [`Gpu::query`] queries the physical device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query {
    /// By the commands with the suffix `KHR`.
    pub khr_alias: bool,
    /// With the structures in the opposite order, and others between them.
    pub reversed: bool,
    /// Initial value of the members.
    pub initial: u32,
}

impl Gpu {
    /// Opens the device whose name contains `name`, by default a device of the fastest kind.
    ///
    /// # Errors
    ///
    /// Skips the check if there is no loader, driver or device; fails it if a query fails or no device has this name.
    pub fn open(name: Option<&str>) -> CheckOutput<&'static Self> {
        let application = vk::ApplicationInfo::default()
            .application_name(c"vkabort conform")
            .api_version(vk::API_VERSION_1_2);
        let extensions = [ash::khr::get_physical_device_properties2::NAME.as_ptr()];
        let info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&extensions);
        let opened = kit::Gpu::loader().and_then(|entry| kit::Gpu::create(entry, &info, name, None));
        let kit = opened.map_err(|error| match error.downcast_ref() {
            Some(&vk::Result::ERROR_INCOMPATIBLE_DRIVER) => Stop::Skip("no Vulkan driver was found".into()),
            Some(&result) if error.to_string() == "vkCreateInstance" => {
                Stop::Skip(format!("vkCreateInstance returned {}", show(result)))
            }
            Some(_) => Stop::from(error),
            None => match error.downcast_ref() {
                Some(refusal @ (Refusal::Unknown(..) | Refusal::Ambiguous(..))) => {
                    Stop::WrongDevice(refusal.to_string())
                }
                _ => Stop::Skip(format!("{error:#}")),
            },
        })?;
        // SAFETY: the handle belongs to the live instance.
        let families = unsafe { kit.instance.get_physical_device_queue_family_properties(kit.physical) };
        let supports_compute =
            |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let index = families.iter().position(supports_compute);
        let index = index.ok_or_else(|| Stop::Skip("the device has no compute queue".into()))?;
        Ok(Box::leak(Box::new(Self {
            khr: ash::khr::get_physical_device_properties2::Instance::new(&kit.entry, &kit.instance),
            extensions: kit.extensions()?,
            family: index as u32,
            timestamp_bits: families.get(index).map_or(0, |family| family.timestamp_valid_bits),
            kit,
        })))
    }

    /// Name, driver and Vulkan version of the device.
    pub fn describe(&self) -> Json {
        json!({
            "name": device_name(&self.properties),
            "driver": self.driver().join(" ").trim(),
            "api_version": kit::version(self.properties.api_version),
        })
    }

    /// Versions of all entries for `name` in the list of extensions.
    pub fn versions_of(&self, name: &CStr) -> Vec<u32> {
        let same = self
            .extensions
            .iter()
            .filter(|e| e.extension_name_as_c_str() == Ok(name));
        same.map(|extension| extension.spec_version).collect()
    }

    /// Whether the device lists an extension.
    pub fn has(&self, name: &CStr) -> bool {
        !self.versions_of(name).is_empty()
    }

    /// Skips the check if the device does not list all of `names`.
    pub fn require(&self, names: &[&CStr]) -> CheckOutput<()> {
        let missing: Vec<_> = names
            .iter()
            .filter(|name| !self.has(name))
            .map(|n| n.to_string_lossy())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let name = device_name(&self.properties);
        Err(Stop::Skip(format!("{name} does not have {}", missing.join(", "))))
    }

    /// `vkEnumerateDeviceExtensionProperties` with an array of `room` elements, or without one for the count. Returns the
    /// result, the count after the call, and the names written.
    pub fn enumerate(&self, room: Option<u32>) -> (vk::Result, u32, Vec<CString>) {
        // SAFETY: no layer is named.
        let (result, count, list) = unsafe { self.extensions_into(ptr::null(), room) };
        let names = list.iter().filter_map(|e| e.extension_name_as_c_str().ok());
        let names = names.filter(|name| !name.is_empty()).map(CStr::to_owned).collect();
        (result, count, names)
    }

    /// Queries features and limits of the extensions. Members that the implementation does not write keep `query.initial`.
    pub fn query(&self, query: Query) -> Answers {
        let mut abort = ShaderAbortFeatures::new(false);
        let mut fault = FaultFeatures::new(false);
        let mut data = ShaderConstantDataFeatures::new(false);
        let mut abort_properties = ShaderAbortProperties::default();
        let mut fault_properties = FaultProperties::default();
        abort.shader_abort = query.initial;
        fault.device_fault = query.initial;
        data.shader_constant_data = query.initial;
        abort_properties.max_shader_abort_message_size = u64::from(query.initial);
        fault_properties.max_device_fault_count = query.initial;
        let mut storage = vk::PhysicalDevice16BitStorageFeatures::default();
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let features = vk::PhysicalDeviceFeatures2::default();
        let mut features = if query.reversed {
            let chain = features.push_next(&mut data).push_next(&mut storage);
            chain.push_next(&mut fault).push_next(&mut abort)
        } else {
            features
                .push_next(&mut abort)
                .push_next(&mut fault)
                .push_next(&mut data)
        };
        let properties = vk::PhysicalDeviceProperties2::default();
        let mut properties = if query.reversed {
            let chain = properties.push_next(&mut fault_properties).push_next(&mut subgroup);
            chain.push_next(&mut abort_properties)
        } else {
            properties
                .push_next(&mut abort_properties)
                .push_next(&mut fault_properties)
        };
        let (instance, physical) = (&self.instance, self.physical);
        // SAFETY: the handle belongs to the live instance, which has the extension enabled. Implementations skip structures
        // that they do not support.
        unsafe {
            if query.khr_alias {
                self.khr.get_physical_device_features2(physical, &mut features);
                self.khr.get_physical_device_properties2(physical, &mut properties);
            } else {
                instance.get_physical_device_features2(physical, &mut features);
                instance.get_physical_device_properties2(physical, &mut properties);
            }
        }
        Answers {
            shader_abort: abort.shader_abort,
            device_fault: fault.device_fault,
            shader_constant_data: data.shader_constant_data,
            max_message_size: abort_properties.max_shader_abort_message_size,
            max_fault_count: fault_properties.max_device_fault_count,
        }
    }

    /// Whether the device supports `shaderInt8`.
    pub fn has_int8(&self) -> bool {
        let mut int8 = vk::PhysicalDeviceShaderFloat16Int8Features::default();
        if self.api_version >= vk::API_VERSION_1_2 {
            self.ask(&mut int8);
        }
        int8.shader_int8 == vk::TRUE
    }
}

fn device_name(properties: &vk::PhysicalDeviceProperties) -> String {
    properties
        .device_name_as_c_str()
        .map(|name| vkabort_record::escape::escape_bytes(name.to_bytes()))
        .unwrap_or_default()
}
