//! What the Vulkan loader, as this process finds it, says of the machine's devices. With `conform::gpu` the only place with `unsafe` code.
//!
//! `doctor` runs this in child processes, once with the layer and once without: a driver that crashes then takes no
//! more than its own probe with it.

use crate::manifest::variable;
use ash::vk;
use serde_json::{Value as Json, json};
use std::ffi::CStr;
use vk_ext::{FaultFeatures, ShaderAbortFeatures, ShaderConstantDataFeatures};

/// The extensions that the layer provides.
pub const EXTENSIONS: [&CStr; 3] = [
    c"VK_KHR_shader_abort",
    c"VK_KHR_device_fault",
    c"VK_KHR_shader_constant_data",
];

/// The probe as JSON: `loader`, `layers`, `devices`, or `error`.
pub fn probe() -> Json {
    match try_probe() {
        Ok(json) => json,
        Err(error) => json!({"error": error}),
    }
}

fn try_probe() -> Result<Json, String> {
    // SAFETY: the loader is a library of the system that runs no code of ours when it is loaded.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|error| format!("the Vulkan loader (libvulkan.so.1) cannot be loaded: {error}"))?;
    // SAFETY: the entry is live, and the function takes nothing else.
    let version = unsafe { entry.try_enumerate_instance_version() }
        .ok()
        .flatten()
        .unwrap_or(vk::API_VERSION_1_0);
    // SAFETY: as above.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    let layers: Vec<String> = layers.iter().map(|layer| text(layer.layer_name_as_c_str())).collect();
    let application = vk::ApplicationInfo::default().api_version(version.min(vk::API_VERSION_1_3));
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the structures live until the call returns.
    let instance = unsafe { entry.create_instance(&info, None) }.map_err(|error| match error {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => {
            "no Vulkan driver was found: install one, for example mesa-vulkan-drivers".to_owned()
        }
        error => format!("vkCreateInstance failed: {error:?}"),
    })?;
    // SAFETY: the instance is live.
    let devices = unsafe { instance.enumerate_physical_devices() };
    let devices = devices.map(|all| {
        all.iter()
            .map(|&one| device(&instance, version, one))
            .collect::<Vec<Json>>()
    });
    // SAFETY: nothing made from the instance is used after this.
    unsafe { instance.destroy_instance(None) };
    let devices = devices.map_err(|error| format!("vkEnumeratePhysicalDevices failed: {error:?}"))?;
    Ok(json!({"loader": show_version(version), "layers": layers, "devices": devices}))
}

fn device(instance: &ash::Instance, loader: u32, handle: vk::PhysicalDevice) -> Json {
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
    let version = properties.api_version.min(loader);
    let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    if version >= vk::API_VERSION_1_1 {
        if version >= vk::API_VERSION_1_2 || has(vk::KHR_BUFFER_DEVICE_ADDRESS_NAME) {
            let mut chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut address);
            // SAFETY: Vulkan 1.1 has the command, the device knows the structure, and both live until it returns.
            unsafe { instance.get_physical_device_features2(handle, &mut chain) };
        }
        if version >= vk::API_VERSION_1_2 || has(vk::KHR_DRIVER_PROPERTIES_NAME) {
            let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            // SAFETY: as above.
            unsafe { instance.get_physical_device_properties2(handle, &mut chain) };
        }
    }
    let needs = [
        (version >= vk::API_VERSION_1_1, "Vulkan 1.1"),
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
    let lines = log().len();
    let tried = EXTENSIONS
        .iter()
        .all(|name| has(name))
        .then(|| try_device(instance, handle));
    let said = log().split_off(lines);
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
        "api_version": show_version(properties.api_version),
        "vkCreateDevice": tried,
        "extensions": EXTENSIONS.iter().filter(|name| has(name)).map(|name| name.to_string_lossy()).collect::<Vec<_>>(),
        "lacks": needs.iter().filter(|(has, _)| !has).map(|(_, name)| *name).collect::<Vec<_>>(),
        "said": said,
    })
}

/// Lines of the layer's log, if there is one.
fn log() -> Vec<String> {
    let file = variable("log_file", "").ok().and_then(std::env::var_os);
    let text = file
        .and_then(|file| std::fs::read_to_string(file).ok())
        .unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Makes a device with the three extensions and destroys it: what goes wrong with them goes wrong here, and the layer says
/// in its log where the messages go.
fn try_device(instance: &ash::Instance, handle: vk::PhysicalDevice) -> String {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
    let names = EXTENSIONS.map(CStr::as_ptr);
    let mut abort = ShaderAbortFeatures::new(true);
    let mut fault = FaultFeatures::new(true);
    let mut data = ShaderConstantDataFeatures::new(true);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut abort)
        .push_next(&mut fault)
        .push_next(&mut data);
    // SAFETY: the structures live until the call returns; nothing is made from the device.
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

fn show_version(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}
