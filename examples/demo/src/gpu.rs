//! Chooses a physical device and creates a device with the abort extensions enabled.

use crate::failure::Failure;
use ash::vk;
use std::ffi::CStr;
use vk_ext as khr;

/// An instance and a physical device.
pub struct Gpu {
    /// Keeps the loader's library loaded.
    _entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// A queue family that supports compute.
    pub family: u32,
}

impl Gpu {
    /// Loads the Vulkan loader, creates an instance and chooses a device of the fastest type.
    pub fn open() -> Result<Self, Failure> {
        // SAFETY: the library is the Vulkan loader, whose initialisation has no preconditions.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| Failure::NoDevice(error.to_string()))?;
        let application = vk::ApplicationInfo::default()
            .application_name(c"vkabort-demo")
            .api_version(vk::API_VERSION_1_2);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `info` and what it points to are valid for the call.
        let instance =
            unsafe { entry.create_instance(&info, None) }.map_err(|error| Failure::NoDevice(error.to_string()))?;
        let mut gpu = Self {
            _entry: entry,
            instance,
            physical: vk::PhysicalDevice::null(),
            family: 0,
        };
        // SAFETY: the instance is alive.
        let mut devices = unsafe { gpu.instance.enumerate_physical_devices() }?;
        devices.sort_by_key(|&device| {
            // SAFETY: the handle was just enumerated.
            match unsafe { gpu.instance.get_physical_device_properties(device) }.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => 0,
                vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
                vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
                _ => 3,
            }
        });
        for device in devices {
            // SAFETY: the handle was just enumerated.
            let families = unsafe { gpu.instance.get_physical_device_queue_family_properties(device) };
            let computes = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
            if let Some(family) = families.iter().position(computes) {
                gpu.physical = device;
                gpu.family = u32::try_from(family).unwrap_or(0);
                return Ok(gpu);
            }
        }
        Err(Failure::NoDevice("no physical device".into()))
    }

    /// Name and API version of the device.
    pub fn describe(&self) -> String {
        // SAFETY: the handle belongs to the living instance.
        let properties = unsafe { self.instance.get_physical_device_properties(self.physical) };
        let version = properties.api_version;
        format!(
            "{}, Vulkan {}.{}.{}",
            properties.device_name_as_c_str().unwrap_or(c"?").to_string_lossy(),
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version),
        )
    }

    /// The abort extensions that the device does not support.
    pub fn missing_extensions(&self) -> Result<Vec<&'static CStr>, Failure> {
        let mut missing = Vec::new();
        for name in khr::EXTENSION_NAMES {
            if !self.has_extension(name)? {
                missing.push(name);
            }
        }
        Ok(missing)
    }

    fn has_extension(&self, name: &CStr) -> Result<bool, Failure> {
        // SAFETY: the handle belongs to the living instance.
        let found = unsafe { self.instance.enumerate_device_extension_properties(self.physical) }?;
        Ok(found.iter().any(|e| e.extension_name_as_c_str() == Ok(name)))
    }

    /// Whether shaders may use 8-bit integers.
    pub fn has_int8(&self) -> bool {
        let mut int8 = vk::PhysicalDeviceShaderFloat16Int8Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut int8);
        // SAFETY: the handle belongs to the living instance; the chain is valid.
        unsafe {
            self.instance
                .get_physical_device_features2(self.physical, &mut features)
        };
        int8.shader_int8 == vk::TRUE && self.has_extension(ash::khr::shader_float16_int8::NAME).unwrap_or(false)
    }

    /// Size of the largest message, in bytes.
    pub fn max_message_size(&self) -> u64 {
        let mut abort = khr::ShaderAbortProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut abort);
        // SAFETY: the handle belongs to the living instance; the chain is valid.
        unsafe {
            self.instance
                .get_physical_device_properties2(self.physical, &mut properties)
        };
        abort.max_shader_abort_message_size
    }

    /// Creates a device with the three extensions and their features enabled.
    pub fn create_device(&self) -> Result<ash::Device, Failure> {
        let mut names = khr::EXTENSION_NAMES.map(CStr::as_ptr).to_vec();
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(self.family)
            .queue_priorities(&priorities)];
        let mut abort = khr::ShaderAbortFeatures::new(true);
        let mut fault = khr::FaultFeatures::new(true);
        let mut data = khr::ShaderConstantDataFeatures::new(true);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut abort)
            .push_next(&mut fault)
            .push_next(&mut data);
        // The text of a GLSL message is an array of bytes.
        let mut int8 = vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_int8(true);
        if self.has_int8() {
            names.push(ash::khr::shader_float16_int8::NAME.as_ptr());
            info = info.push_next(&mut int8);
        }
        let info = info.enabled_extension_names(&names);
        // SAFETY: `info` and what it points to are valid for the call.
        Ok(unsafe { self.instance.create_device(self.physical, &info, None) }?)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: every `Dispatch` has destroyed its device before the `Gpu` that it borrows.
        unsafe { self.instance.destroy_instance(None) };
    }
}
