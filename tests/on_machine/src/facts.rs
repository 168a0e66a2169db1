//! Queries the machine's Vulkan devices. Runs in a child process.

use crate::devices::Device;
use anyhow::{Context, Result, anyhow};
use ash::vk;
use std::ffi::CStr;
use vkabort_test_kit::device_choice::choose;
use vkabort_tests::vk::{Gpu, candidate, version};

/// Opens all physical devices.
fn open() -> Result<Vec<Gpu>> {
    let entry = Gpu::loader().map_err(|error| anyhow!("{error:#}; set LD_LIBRARY_PATH to a folder with one"))?;
    let application = vk::ApplicationInfo::default()
        .application_name(c"vkabort-bundle")
        .api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    Gpu::all(entry, &info, None).map_err(|error| match error.downcast_ref() {
        Some(&vk::Result::ERROR_INCOMPATIBLE_DRIVER) => {
            anyhow!("the Vulkan loader finds no driver; set VK_DRIVER_FILES to a driver's manifest")
        }
        _ => error,
    })
}

/// Describes all physical devices.
///
/// # Errors
///
/// The loader or a driver is missing.
pub fn devices() -> Result<Vec<Device>> {
    let describe = |gpu: &Gpu| {
        Ok(Device {
            name: candidate(&gpu.properties).name,
            kind: gpu.properties.device_type.as_raw(),
            driver: gpu.driver().join(" ").trim().to_owned(),
            api: version(gpu.properties.api_version),
            native: gpu.has_extension(c"VK_KHR_shader_abort")?,
        })
    };
    open()?.iter().map(describe).collect()
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
    let all = open()?;
    let candidates: Vec<_> = all.iter().map(|gpu| candidate(&gpu.properties)).collect();
    let gpu = all.get(choose(&candidates, Some(wanted))?);
    let gpu = gpu.context("device index out of range")?;
    let (instance, properties) = (&gpu.instance, &gpu.properties);
    let mut lines = vec![format!(
        "vendor 0x{:04X}, device 0x{:04X}, driver version 0x{:08X}, Vulkan {}",
        properties.vendor_id,
        properties.device_id,
        properties.driver_version,
        version(properties.api_version)
    )];
    let listed = gpu.extensions()?;
    let has = |name: &&CStr| listed.iter().any(|one| one.extension_name_as_c_str() == Ok(*name));
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
    if gpu.api_version >= vk::API_VERSION_1_2 {
        gpu.ask(&mut newer);
    }
    lines.push(format!(
        "bufferDeviceAddress {}, bufferDeviceAddressCaptureReplay {}, shaderInt8 {}",
        yes(newer.buffer_device_address),
        yes(newer.buffer_device_address_capture_replay),
        yes(newer.shader_int8)
    ));
    // SAFETY: the handle belongs to the living instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(gpu.physical) };
    for (number, family) in families.iter().enumerate() {
        lines.push(format!(
            "queue family {number}: {} queues, {:?}",
            family.queue_count, family.queue_flags
        ));
    }
    // SAFETY: the handle belongs to the living instance.
    let memory = unsafe { instance.get_physical_device_memory_properties(gpu.physical) };
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
