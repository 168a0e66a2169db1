//! Lists the machine's devices as the Vulkan loader presents them to this process.
//!
//! `vkabort doctor` runs this in two child processes, with and without the layer, so that a driver that crashes ends only
//! its own probe.

use crate::version;
use ash::vk;
use serde_json::{Value as Json, json};
use std::ffi::CStr;
use std::path::Path;
pub use vk_ext::EXTENSION_NAMES;
use vk_ext::{FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};

/// Lists loader, layers and devices as JSON: `loader`, `layers`, `devices`; or `error`.
///
/// `log` is the log file of the layer, if the layer is in use: a device gets the lines about its creation.
pub fn machine(log: Option<&Path>) -> Json {
    match try_machine(log) {
        Ok(json) => json,
        Err(error) => json!({"error": error}),
    }
}

fn try_machine(log: Option<&Path>) -> Result<Json, String> {
    // SAFETY: loading the Vulkan loader has no preconditions.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|error| format!("the Vulkan loader (libvulkan.so.1) cannot be loaded: {error}"))?;
    // SAFETY: the entry is live.
    let version = unsafe { entry.try_enumerate_instance_version() }
        .ok()
        .flatten()
        .unwrap_or(vk::API_VERSION_1_0);
    // SAFETY: the entry is live.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    let layers: Vec<String> = layers.iter().map(|layer| text(layer.layer_name_as_c_str())).collect();
    let application = vk::ApplicationInfo::default().api_version(version.min(vk::API_VERSION_1_3));
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the structures live until the call returns.
    let instance = unsafe { entry.create_instance(&info, None) }.map_err(|error| match error {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
            "no Vulkan driver was found: install one, for example the package mesa-vulkan-drivers".to_owned()
        }
        error => format!("vkCreateInstance failed: {error:?}"),
    })?;
    // SAFETY: the instance is live.
    let devices = unsafe { instance.enumerate_physical_devices() };
    let devices = devices.map(|all| {
        all.iter()
            .map(|&handle| device(&instance, version, handle, log))
            .collect::<Vec<Json>>()
    });
    // SAFETY: no object of the instance is used afterwards.
    unsafe { instance.destroy_instance(None) };
    let devices = devices.map_err(|error| format!("vkEnumeratePhysicalDevices failed: {error:?}"))?;
    Ok(json!({"loader": version::show(version), "layers": layers, "devices": devices}))
}

fn device(instance: &ash::Instance, loader: u32, handle: vk::PhysicalDevice, log: Option<&Path>) -> Json {
    // SAFETY: the physical device belongs to the live instance.
    let (properties, features, extensions) = unsafe {
        (
            instance.get_physical_device_properties(handle),
            instance.get_physical_device_features(handle),
            instance
                .enumerate_device_extension_properties(handle)
                .unwrap_or_default(),
        )
    };
    let has = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    let api_version = properties.api_version.min(loader);
    let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    if api_version >= vk::API_VERSION_1_1 {
        if api_version >= vk::API_VERSION_1_2 || has(vk::KHR_BUFFER_DEVICE_ADDRESS_NAME) {
            let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut address);
            // SAFETY: Vulkan 1.1 has the command, the device supports the structure, and both live until it returns.
            unsafe { instance.get_physical_device_features2(handle, &mut chain) };
        }
        if api_version >= vk::API_VERSION_1_2 || has(vk::KHR_DRIVER_PROPERTIES_NAME) {
            let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            // SAFETY: Vulkan 1.1 has the command, the device supports the structure, and both live until it returns.
            unsafe { instance.get_physical_device_properties2(handle, &mut chain) };
        }
    }
    let requirements = [
        (api_version >= vk::API_VERSION_1_1, "Vulkan 1.1"),
        (address.buffer_device_address == vk::TRUE, "bufferDeviceAddress"),
        (
            features.vertex_pipeline_stores_and_atomics == vk::TRUE,
            "vertexPipelineStoresAndAtomics",
        ),
        (
            features.fragment_stores_and_atomics == vk::TRUE,
            "fragmentStoresAndAtomics",
        ),
    ];
    let lines = read_lines(log).len();
    let created = EXTENSION_NAMES
        .iter()
        .all(|name| has(name))
        .then(|| create_device(instance, handle));
    let creation_log = read_lines(log).split_off(lines);
    json!({
        "name": text(properties.device_name_as_c_str()),
        "kind": match properties.device_type {
            vk::PhysicalDeviceType::CPU => "CPU",
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete GPU",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated GPU",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual GPU",
            _ => "device",
        },
        "driver": format!("{} {}", text(driver.driver_name_as_c_str()), text(driver.driver_info_as_c_str())).trim(),
        "api_version": version::show(properties.api_version),
        "vkCreateDevice": created,
        "extensions": EXTENSION_NAMES.iter().filter(|name| has(name)).map(|name| name.to_string_lossy()).collect::<Vec<_>>(),
        "lacks": requirements.iter().filter(|(supported, _)| !supported).map(|(_, name)| *name).collect::<Vec<_>>(),
        "said": creation_log,
    })
}

/// Lines of the layer's log.
fn read_lines(log: Option<&Path>) -> Vec<String> {
    let text = log.and_then(|log| std::fs::read_to_string(log).ok());
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Creates and destroys a device with the three extensions, so that its errors appear, and the layer logs its decisions.
/// Returns the result.
fn create_device(instance: &ash::Instance, handle: vk::PhysicalDevice) -> String {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let names = EXTENSION_NAMES.map(CStr::as_ptr);
    let mut abort = ShaderAbortFeatures::new(true);
    let mut fault = FaultFeatures::new(true);
    let mut data = ShaderConstantDataFeatures::new(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut abort)
        .push_next(&mut fault)
        .push_next(&mut data);
    // SAFETY: the structures live until the call returns, and no object is created from the device.
    unsafe {
        match instance.create_device(handle, &info, None) {
            Ok(device) => {
                device.destroy_device(None);
                "VK_SUCCESS".to_owned()
            }
            Err(error) => format!("{error:?}"),
        }
    }
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    name.map(|name| vkabort_record::escape::escape_bytes(name.to_bytes()))
        .unwrap_or_default()
}
