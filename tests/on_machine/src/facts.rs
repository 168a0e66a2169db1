//! Queries the machine's Vulkan devices. Runs in a child process.

use crate::devices::Device;
use anyhow::{Context, Result};
use ash::vk;
use std::ffi::CStr;
use vkabort_test_kit::device_choice::choose;
use vkabort_tests::vk::candidate;

/// An instance and its physical devices.
struct Vulkan {
    _entry: ash::Entry,
    instance: ash::Instance,
    devices: Vec<vk::PhysicalDevice>,
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: no object created from the instance is alive.
        unsafe { self.instance.destroy_instance(None) };
    }
}

impl Vulkan {
    fn open() -> Result<Self> {
        // SAFETY: loading the system's Vulkan loader is sound, and the entry keeps it loaded.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| {
            anyhow::anyhow!(
                "the Vulkan loader (libvulkan.so.1) cannot be loaded: {error}; set LD_LIBRARY_PATH to a folder with one"
            )
        })?;
        let application = vk::ApplicationInfo::default()
            .application_name(c"vkabort-bundle")
            .api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: `info` and its pointers are valid for the call.
        let instance = unsafe { entry.create_instance(&info, None) }.map_err(|error| match error {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
                anyhow::anyhow!("the Vulkan loader finds no driver; set VK_DRIVER_FILES to a driver's manifest")
            }
            error => anyhow::anyhow!("vkCreateInstance returned {error:?}"),
        })?;
        let mut vulkan = Self {
            _entry: entry,
            instance,
            devices: Vec::new(),
        };
        // SAFETY: the instance is alive.
        let devices = unsafe { vulkan.instance.enumerate_physical_devices() };
        vulkan.devices = devices.context("vkEnumeratePhysicalDevices")?;
        Ok(vulkan)
    }

    fn properties(&self, device: vk::PhysicalDevice) -> vk::PhysicalDeviceProperties {
        // SAFETY: the handle belongs to the living instance.
        unsafe { self.instance.get_physical_device_properties(device) }
    }

    fn has(&self, device: vk::PhysicalDevice, name: &CStr) -> bool {
        // SAFETY: the handle belongs to the living instance.
        let all = unsafe { self.instance.enumerate_device_extension_properties(device) };
        let all = all.unwrap_or_default();
        all.iter().any(|one| one.extension_name_as_c_str() == Ok(name))
    }

    /// Name and version of the driver.
    fn driver(&self, device: vk::PhysicalDevice) -> String {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        if self.properties(device).api_version >= vk::API_VERSION_1_2 {
            let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            // SAFETY: the handle belongs to the living instance, and Vulkan 1.2 defines the structure.
            unsafe { self.instance.get_physical_device_properties2(device, &mut chain) };
        }
        let text = |text: Result<&CStr, _>| text.map(CStr::to_string_lossy).unwrap_or_default().into_owned();
        let both = [text(driver.driver_name_as_c_str()), text(driver.driver_info_as_c_str())];
        both.join(" ").trim().to_owned()
    }
}

fn version(number: u32) -> String {
    let (major, minor) = (vk::api_version_major(number), vk::api_version_minor(number));
    format!("{major}.{minor}.{}", vk::api_version_patch(number))
}

/// Describes all physical devices.
///
/// # Errors
///
/// The loader or a driver is missing.
pub fn devices() -> Result<Vec<Device>> {
    let vulkan = Vulkan::open()?;
    let describe = |&device: &vk::PhysicalDevice| {
        let properties = vulkan.properties(device);
        Device {
            name: candidate(&properties).name,
            kind: properties.device_type.as_raw(),
            driver: vulkan.driver(device),
            api: version(properties.api_version),
            native: vulkan.has(device, c"VK_KHR_shader_abort"),
        }
    };
    Ok(vulkan.devices.iter().map(describe).collect())
}

/// Extensions that the layer or a test uses if present.
const INTERESTING: [&CStr; 12] = [
    c"VK_KHR_shader_abort",
    c"VK_KHR_device_fault",
    c"VK_KHR_shader_constant_data",
    c"VK_EXT_device_fault",
    c"VK_EXT_device_address_binding_report",
    c"VK_NV_device_diagnostic_checkpoints",
    c"VK_AMD_device_coherent_memory",
    c"VK_EXT_external_memory_host",
    c"VK_EXT_shader_object",
    c"VK_EXT_mesh_shader",
    c"VK_KHR_ray_tracing_pipeline",
    c"VK_KHR_pipeline_binary",
];

/// Describes a device: version, extensions, features, queue families, memory. One line per fact.
///
/// # Errors
///
/// No device matches `wanted`, or several do.
pub fn of_device(wanted: &str) -> Result<Vec<String>> {
    let vulkan = Vulkan::open()?;
    let properties: Vec<_> = vulkan.devices.iter().map(|&device| vulkan.properties(device)).collect();
    let candidates: Vec<_> = properties.iter().map(candidate).collect();
    let index = choose(&candidates, Some(wanted))?;
    let (device, properties) = vulkan
        .devices
        .get(index)
        .zip(properties.get(index))
        .context("device index out of range")?;
    let mut lines = vec![format!(
        "vendor 0x{:04X}, device 0x{:04X}, driver version 0x{:08X}, Vulkan {}",
        properties.vendor_id,
        properties.device_id,
        properties.driver_version,
        version(properties.api_version)
    )];
    let has = |name: &&CStr| vulkan.has(*device, name);
    let (supported, missing): (Vec<&CStr>, Vec<&CStr>) = INTERESTING.into_iter().partition(has);
    let names = |all: &[&CStr]| {
        all.iter()
            .map(|name| name.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ")
    };
    lines.push(format!("supported: {}", names(&supported)));
    lines.push(format!("not supported: {}", names(&missing)));
    let mut newer = vk::PhysicalDeviceVulkan12Features::default();
    if properties.api_version >= vk::API_VERSION_1_2 {
        let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut newer);
        // SAFETY: the handle belongs to the living instance, and Vulkan 1.2 defines the structure.
        unsafe { vulkan.instance.get_physical_device_features2(*device, &mut chain) };
    }
    lines.push(format!(
        "bufferDeviceAddress {}, bufferDeviceAddressCaptureReplay {}, shaderInt8 {}",
        yes(newer.buffer_device_address),
        yes(newer.buffer_device_address_capture_replay),
        yes(newer.shader_int8)
    ));
    // SAFETY: the handle belongs to the living instance.
    let families = unsafe { vulkan.instance.get_physical_device_queue_family_properties(*device) };
    for (number, family) in families.iter().enumerate() {
        lines.push(format!(
            "queue family {number}: {} queues, {:?}",
            family.queue_count, family.queue_flags
        ));
    }
    // SAFETY: the handle belongs to the living instance.
    let memory = unsafe { vulkan.instance.get_physical_device_memory_properties(*device) };
    for (number, heap) in memory.memory_heaps_as_slice().iter().enumerate() {
        let size = heap.size as f64 / f64::from(1 << 20);
        lines.push(format!("memory heap {number}: {size:.0} MiB, {:?}", heap.flags));
    }
    for (number, kind) in memory.memory_types_as_slice().iter().enumerate() {
        lines.push(format!(
            "memory type {number}: heap {}, {:?}",
            kind.heap_index, kind.property_flags
        ));
    }
    Ok(lines)
}

fn yes(feature: vk::Bool32) -> &'static str {
    if feature == vk::TRUE { "yes" } else { "no" }
}
