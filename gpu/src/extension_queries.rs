//! Queries of a physical device about its extensions, in every way that the API offers.

use crate::{Gpu, Skip};
use anyhow::Result;
use ash::vk;
use std::ffi::{CStr, CString};
use std::ptr;
use vk_ext::{FaultFeatures, FaultProperties, ShaderAbortFeatures, ShaderAbortProperties, ShaderConstantDataFeatures};
use vkabort_record::escape::escape_bytes;

/// Features and limits of the three extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortSupport {
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

/// How [`Gpu::abort_support`] queries the physical device.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query {
    /// By the commands with the suffix `KHR`, whose extension the instance has enabled.
    pub khr_alias: bool,
    /// With the structures in the opposite order, and others between them.
    pub reversed: bool,
    /// Initial value of the members.
    pub initial: u32,
}

impl Gpu {
    /// `deviceName`, without control characters.
    pub fn name(&self) -> String {
        let name = self.properties.device_name_as_c_str();
        name.map(|name| escape_bytes(name.to_bytes())).unwrap_or_default()
    }

    /// Versions of all entries for `name` in the list of extensions.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn versions_of(&self, name: &CStr) -> Result<Vec<u32>> {
        let mut listed = self.extensions()?;
        listed.retain(|extension| extension.extension_name_as_c_str() == Ok(name));
        Ok(listed.iter().map(|extension| extension.spec_version).collect())
    }

    /// Requires all of `names`.
    ///
    /// # Errors
    ///
    /// [`Skip`] if the device does not list one; else the call's error.
    pub fn require_extensions(&self, names: &[&CStr]) -> Result<()> {
        let listed = self.extensions()?;
        let has = |name: &CStr| listed.iter().any(|one| one.extension_name_as_c_str() == Ok(name));
        let missing = names
            .iter()
            .filter(|name| !has(name))
            .map(|name| name.to_string_lossy());
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Skip(format!("{} does not have {}", self.name(), missing.join(", "))).into())
    }

    /// `vkEnumerateDeviceExtensionProperties` with an array of `room` elements, or without one for the count. Returns the
    /// result, the count after the call, and the names written.
    pub fn enumerate_extensions(&self, room: Option<u32>) -> (vk::Result, u32, Vec<CString>) {
        // SAFETY: no layer is named.
        let (result, count, list) = unsafe { self.extensions_into(ptr::null(), room) };
        let names = list.iter().filter_map(|e| e.extension_name_as_c_str().ok());
        let names = names.filter(|name| !name.is_empty()).map(CStr::to_owned).collect();
        (result, count, names)
    }

    /// Queries features and limits of the extensions. Members that the implementation does not write keep `query.initial`.
    pub fn abort_support(&self, query: Query) -> AbortSupport {
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
        let khr = ash::khr::get_physical_device_properties2::Instance::new(&self.entry, instance);
        // SAFETY: the handle belongs to the live instance, which has the extension enabled if `khr_alias` is set.
        // Implementations skip structures that they do not support.
        unsafe {
            if query.khr_alias {
                khr.get_physical_device_features2(physical, &mut features);
                khr.get_physical_device_properties2(physical, &mut properties);
            } else {
                instance.get_physical_device_features2(physical, &mut features);
                instance.get_physical_device_properties2(physical, &mut properties);
            }
        }
        AbortSupport {
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
