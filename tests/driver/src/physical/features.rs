//! Physical device features, in all structures that can query them.

use super::PhysicalDevice;
use crate::enumerate::answer;
use crate::handle::Out;
use crate::settings::Settings;
use ash::vk::{self, TRUE};
use vk_ext as khr;

fn core(settings: &Settings) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        vertex_pipeline_stores_and_atomics: (!settings.no_vertex_stores).into(),
        fragment_stores_and_atomics: (!settings.no_fragment_stores).into(),
        shader_int64: TRUE,
        shader_int16: TRUE,
        sparse_binding: TRUE,
        ..Default::default()
    }
}

pub extern "system" fn features(device: &PhysicalDevice, features: Out<'_, vk::PhysicalDeviceFeatures>) {
    features.write(core(&device.settings));
}

pub extern "system" fn features2(device: &PhysicalDevice, query: &mut vk::PhysicalDeviceFeatures2<'_>) {
    let settings = &device.settings;
    let addresses = vk::Bool32::from(!settings.no_addresses);
    let replay = vk::Bool32::from(!settings.no_addresses && settings.replay);
    query.features = core(settings);
    // SAFETY: by the command's valid usage, the chain is valid.
    unsafe {
        answer(query, |found: &mut vk::PhysicalDeviceVulkan12Features<'_>| {
            found.buffer_device_address = addresses;
            found.buffer_device_address_capture_replay = replay;
            found.vulkan_memory_model = TRUE;
            found.vulkan_memory_model_device_scope = TRUE;
            found.timeline_semaphore = TRUE;
            found.shader_int8 = TRUE;
        });
        answer(query, |found: &mut vk::PhysicalDeviceVulkan13Features<'_>| {
            found.synchronization2 = TRUE;
            found.dynamic_rendering = TRUE;
            found.maintenance4 = TRUE;
        });
        answer(
            query,
            |found: &mut vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>| {
                found.buffer_device_address = addresses;
                found.buffer_device_address_capture_replay = replay;
            },
        );
        answer(query, |found: &mut vk::PhysicalDeviceVulkanMemoryModelFeatures<'_>| {
            found.vulkan_memory_model = TRUE;
            found.vulkan_memory_model_device_scope = TRUE;
        });
        answer::<vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>>(query, |found| found.timeline_semaphore = TRUE);
        answer::<vk::PhysicalDeviceSynchronization2Features<'_>>(query, |found| found.synchronization2 = TRUE);
        answer::<vk::PhysicalDeviceRayTracingPipelineFeaturesKHR<'_>>(query, |found| found.ray_tracing_pipeline = TRUE);
        answer::<vk::PhysicalDevicePresentWaitFeaturesKHR<'_>>(query, |found| found.present_wait = TRUE);
        answer::<vk::PhysicalDeviceProtectedMemoryFeatures<'_>>(query, |found| found.protected_memory = TRUE);
        answer::<vk::PhysicalDeviceMaintenance5FeaturesKHR<'_>>(query, |found| found.maintenance5 = TRUE);
        answer::<vk::PhysicalDeviceShaderObjectFeaturesEXT<'_>>(query, |found| found.shader_object = TRUE);
        answer::<khr::PipelineBinaryFeatures>(query, |found| found.pipeline_binaries = TRUE);
        answer::<khr::DescriptorHeapFeatures>(query, |found| found.descriptor_heap = TRUE);
        if settings.device_coherent {
            answer::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>(query, |found| {
                found.device_coherent_memory = TRUE
            });
        }
        if settings.ext_fault {
            answer(query, |found: &mut vk::PhysicalDeviceFaultFeaturesEXT<'_>| {
                found.device_fault = TRUE;
                found.device_fault_vendor_binary = TRUE;
            });
        }
        if settings.native_fault {
            answer(query, |found: &mut khr::FaultFeatures| {
                found.device_fault = TRUE;
                found.device_fault_vendor_binary = TRUE;
                found.device_fault_report_masked = vk::FALSE;
                found.device_fault_device_lost_on_masked = vk::FALSE;
            });
        }
        if settings.native_abort {
            answer::<khr::ShaderAbortFeatures>(query, |found| found.shader_abort = TRUE);
        }
        if settings.native_data {
            answer::<khr::ShaderConstantDataFeatures>(query, |found| found.shader_constant_data = TRUE);
        }
    }
}
