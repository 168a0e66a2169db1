//! Lists the machine's devices as the Vulkan loader presents them to this process.
//!
//! `vkabort doctor` runs this in two child processes, with and without the layer, so that a driver that crashes ends only
//! its own probe.

use anyhow::{Result, anyhow};
use ash::vk;
use serde_json::{Value as Json, json};
use std::ffi::{CStr, OsString};
use std::path::Path;
pub use vk_ext::EXTENSION_NAMES;
use vkabort_gpu::device_choice::kind_name;
use vkabort_gpu::{ExtraDeviceInfo, Gpu, show, version, with_create_info};
use vkabort_record::escape::escape_bytes;

/// Result of a `vkCreateDevice` that succeeds, in the JSON.
pub const CREATED: &str = "VK_SUCCESS";

/// Lists loader, layers and devices as JSON: `loader`, `layers`, `devices`; or `error`.
///
/// `log` is the log file of the layer, if the layer is in use: a device gets the lines about its creation.
pub fn machine(log: Option<&Path>) -> Json {
    try_machine(log).unwrap_or_else(|error| json!({"error": format!("{error:#}")}))
}

fn try_machine(log: Option<&Path>) -> Result<Json> {
    let entry = Gpu::loader()?;
    // SAFETY: the entry is live.
    let (loader, layers) = unsafe {
        (
            entry.try_enumerate_instance_version().ok().flatten(),
            entry.enumerate_instance_layer_properties().unwrap_or_default(),
        )
    };
    let loader = loader.unwrap_or(vk::API_VERSION_1_0);
    let layers: Vec<String> = layers.iter().map(|layer| text(layer.layer_name_as_c_str())).collect();
    let application = vk::ApplicationInfo::default().api_version(loader.min(vk::API_VERSION_1_3));
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    let devices = Gpu::all(entry, &info, None).map_err(|error| match error.downcast_ref() {
        Some(&vk::Result::ERROR_INCOMPATIBLE_DRIVER) => anyhow!(no_driver(|name| std::env::var_os(name))),
        Some(result) => anyhow!("{error} returned {}", show(*result)),
        None => error,
    })?;
    let devices: Vec<Json> = devices.iter().map(|gpu| device(gpu, log)).collect();
    Ok(json!({"loader": version(loader), "layers": layers, "devices": devices}))
}

/// Why the loader has no driver: variables that select drivers, else none is installed.
fn no_driver(variable: impl Fn(&str) -> Option<OsString>) -> String {
    const SELECTORS: [(&str, &str); 4] = [
        ("VK_DRIVER_FILES", "the loader uses the drivers of its manifests only"),
        ("VK_ICD_FILENAMES", "the loader uses the drivers of its manifests only"),
        (
            "VK_LOADER_DRIVERS_SELECT",
            "the loader uses only the drivers that it selects",
        ),
        (
            "VK_LOADER_DRIVERS_DISABLE",
            "the loader does not use the drivers that it names",
        ),
    ];
    let set: Vec<String> = SELECTORS
        .iter()
        .filter_map(|(name, effect)| {
            let value = variable(name).filter(|value| !value.is_empty())?;
            Some(format!("{name} is set to {}, so {effect}", value.display()))
        })
        .collect();
    match set.is_empty() {
        true => "no Vulkan driver was found: install one, for example the package mesa-vulkan-drivers".to_owned(),
        false => format!(
            "no Vulkan driver was found: {}. Unset it, or correct it",
            set.join("; ")
        ),
    }
}

fn device(gpu: &Gpu, log: Option<&Path>) -> Json {
    let properties = &gpu.properties;
    // SAFETY: the physical device belongs to the live instance.
    let features = unsafe { gpu.instance.get_physical_device_features(gpu.physical) };
    let extensions = gpu.extensions().unwrap_or_default();
    let has = |name: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    let mut address = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    if gpu.has_since_1_2(vk::KHR_BUFFER_DEVICE_ADDRESS_NAME) {
        gpu.ask(&mut address);
    }
    let requirements = [
        (gpu.api_version >= vk::API_VERSION_1_1, "Vulkan 1.1"),
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
    let created = EXTENSION_NAMES.iter().all(|name| has(name)).then(|| create_device(gpu));
    let creation_log = read_lines(log).split_off(lines);
    json!({
        "name": text(properties.device_name_as_c_str()),
        "kind": kind_name(properties.device_type),
        "driver": escape_bytes(gpu.driver().join(" ").trim().as_bytes()),
        "api_version": version(properties.api_version),
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
fn create_device(gpu: &Gpu) -> String {
    with_create_info(0, true, ExtraDeviceInfo::default(), |info| {
        // SAFETY: the structures live until the call returns, and no object is created from the device.
        unsafe {
            match gpu.instance.create_device(gpu.physical, &info, None) {
                Ok(device) => {
                    device.destroy_device(None);
                    CREATED.to_owned()
                }
                Err(error) => show(error),
            }
        }
    })
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    name.map(|name| escape_bytes(name.to_bytes())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_hides_the_drivers_is_named() {
        let problem = |set: &str| no_driver(|name| (name == set).then(|| "/none.json".into()));
        assert!(problem("").ends_with("the package mesa-vulkan-drivers"));
        for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_LOADER_DRIVERS_SELECT"] {
            let text = problem(name);
            assert!(text.contains(&format!("{name} is set to /none.json, so ")), "{text}");
            assert!(!text.contains("install"), "{text}");
        }
    }
}
