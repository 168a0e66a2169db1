//! Physical device properties.

use super::PhysicalDevice;
use crate::enumerate::{answer, copy_text};
use crate::handle::Out;
use ash::vk;
use vk_ext as khr;

/// `maxShaderAbortMessageSize` of the native extension. Differs from the layer's value.
const MAX_MESSAGE: u64 = 1 << 20;
/// `maxDeviceFaultCount` of the native extension.
const MAX_FAULTS: u32 = 8;

fn core(device: &PhysicalDevice) -> vk::PhysicalDeviceProperties {
    let mut found = vk::PhysicalDeviceProperties {
        api_version: vk::make_api_version(0, 1, device.settings.minor, 0),
        driver_version: 1,
        // Not a real vendor: PCI vendor IDs have 16 bits, and Khronos assigns IDs from 0x10000.
        vendor_id: 0x0001_FFFF,
        device_id: device.settings.device_id + device.index as u32,
        device_type: match (device.settings.cpu, device.settings.integrated) {
            (true, _) => vk::PhysicalDeviceType::CPU,
            (_, true) => vk::PhysicalDeviceType::INTEGRATED_GPU,
            _ => vk::PhysicalDeviceType::DISCRETE_GPU,
        },
        pipeline_cache_uuid: *b"vkabort-driver-1",
        ..Default::default()
    };
    copy_text(&mut found.device_name, c"vkabort test driver");
    let limits = &mut found.limits;
    limits.max_image_dimension2_d = 4096;
    limits.max_push_constants_size = 256;
    limits.max_memory_allocation_count = 1 << 20;
    limits.max_sampler_allocation_count = 4096;
    limits.max_bound_descriptor_sets = 8;
    limits.max_storage_buffer_range = 1 << 30;
    limits.max_uniform_buffer_range = 1 << 16;
    limits.max_per_stage_descriptor_storage_buffers = 64;
    limits.max_per_stage_resources = 256;
    limits.max_descriptor_set_storage_buffers = 64;
    limits.max_compute_shared_memory_size = 1 << 15;
    limits.max_compute_work_group_count = [65535; 3];
    limits.max_compute_work_group_invocations = 1024;
    limits.max_compute_work_group_size = [1024; 3];
    limits.min_memory_map_alignment = 4096;
    limits.min_storage_buffer_offset_alignment = 16;
    limits.min_uniform_buffer_offset_alignment = 16;
    limits.buffer_image_granularity = 1;
    limits.non_coherent_atom_size = 64;
    limits.timestamp_period = 1.0;
    found
}

pub extern "system" fn properties(device: &PhysicalDevice, properties: Out<'_, vk::PhysicalDeviceProperties>) {
    properties.write(core(device));
}

pub extern "system" fn properties2(device: &PhysicalDevice, query: &mut vk::PhysicalDeviceProperties2<'_>) {
    let settings = &device.settings;
    let mut uuid = *b"vkabort-device-0";
    uuid[15] += device.index as u8;
    query.properties = core(device);
    // SAFETY: by the command's valid usage, the chain is valid.
    unsafe {
        answer::<vk::PhysicalDeviceIDProperties<'_>>(query, |found| found.device_uuid = uuid);
        answer(query, |found: &mut vk::PhysicalDeviceVulkan11Properties<'_>| {
            found.device_uuid = uuid;
            found.subgroup_size = 1;
            found.max_per_set_descriptors = 1024;
            found.max_memory_allocation_size = 1 << 31;
        });
        answer(query, |found: &mut vk::PhysicalDeviceMaintenance3Properties<'_>| {
            found.max_per_set_descriptors = 1024;
            found.max_memory_allocation_size = 1 << 31;
        });
        answer(query, |found: &mut vk::PhysicalDeviceDriverProperties<'_>| {
            found.driver_id = vk::DriverId::from_raw(0x7FFF_0000);
            copy_text(&mut found.driver_name, c"vkabort test driver");
            copy_text(&mut found.driver_info, c"1");
        });
        answer(
            query,
            |found: &mut vk::PhysicalDeviceExternalMemoryHostPropertiesEXT<'_>| {
                found.min_imported_host_pointer_alignment = 4096;
            },
        );
        answer(
            query,
            |found: &mut vk::PhysicalDeviceTimelineSemaphoreProperties<'_>| {
                found.max_timeline_semaphore_value_difference = u64::MAX / 2;
            },
        );
        if settings.native_abort {
            answer::<khr::ShaderAbortProperties>(query, |found| found.max_shader_abort_message_size = MAX_MESSAGE);
        }
        if settings.native_fault {
            answer::<khr::FaultProperties>(query, |found| found.max_device_fault_count = MAX_FAULTS);
        }
    }
}
