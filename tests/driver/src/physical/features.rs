//! Physical device features, in all structures that can query them.

use super::object::physical_device;
use crate::settings::Settings;
use ash::vk::{self, TaggedStructure};
use vk_ext as khr;

fn core(settings: &Settings) -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        vertex_pipeline_stores_and_atomics: settings.vertex_stores.into(),
        fragment_stores_and_atomics: settings.fragment_stores.into(),
        shader_int64: vk::TRUE,
        shader_int16: vk::TRUE,
        sparse_binding: vk::TRUE,
        ..Default::default()
    }
}

pub unsafe extern "system" fn features(device: vk::PhysicalDevice, features: *mut vk::PhysicalDeviceFeatures) {
    // SAFETY: by the command's valid usage, its handles and pointers are valid.
    unsafe { features.write(core(&physical_device(device).settings)) };
}

pub unsafe extern "system" fn features2(device: vk::PhysicalDevice, features: *mut vk::PhysicalDeviceFeatures2<'_>) {
    // SAFETY: by the command's valid usage, pointers are valid and `sType` gives the type of each chained structure.
    unsafe {
        let settings = &physical_device(device).settings;
        (*features).features = core(settings);
        let mut node = (*features).p_next.cast::<vk::BaseOutStructure<'_>>();
        while let Some(base) = node.as_mut() {
            answer(settings, base);
            node = base.p_next;
        }
    }
}

/// # Safety
/// `node` must be of the type that its `sType` says.
unsafe fn answer(settings: &Settings, node: &mut vk::BaseOutStructure<'_>) {
    let node = std::ptr::from_mut(node);
    let addresses = vk::Bool32::from(settings.addresses);
    let replay = vk::Bool32::from(settings.addresses && settings.replay);
    // SAFETY: the caller guarantees that each node has the type of its `sType`.
    unsafe {
        match (*node).s_type {
            vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE => {
                let found = &mut *node.cast::<vk::PhysicalDeviceVulkan12Features<'_>>();
                found.buffer_device_address = addresses;
                found.buffer_device_address_capture_replay = replay;
                found.vulkan_memory_model = vk::TRUE;
                found.vulkan_memory_model_device_scope = vk::TRUE;
                found.timeline_semaphore = vk::TRUE;
                found.shader_int8 = vk::TRUE;
            }
            vk::PhysicalDeviceVulkan13Features::STRUCTURE_TYPE => {
                let found = &mut *node.cast::<vk::PhysicalDeviceVulkan13Features<'_>>();
                found.synchronization2 = vk::TRUE;
                found.dynamic_rendering = vk::TRUE;
                found.maintenance4 = vk::TRUE;
            }
            vk::PhysicalDeviceBufferDeviceAddressFeatures::STRUCTURE_TYPE => {
                let found = &mut *node.cast::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>>();
                found.buffer_device_address = addresses;
                found.buffer_device_address_capture_replay = replay;
            }
            vk::PhysicalDeviceVulkanMemoryModelFeatures::STRUCTURE_TYPE => {
                let found = &mut *node.cast::<vk::PhysicalDeviceVulkanMemoryModelFeatures<'_>>();
                found.vulkan_memory_model = vk::TRUE;
                found.vulkan_memory_model_device_scope = vk::TRUE;
            }
            vk::PhysicalDeviceTimelineSemaphoreFeatures::STRUCTURE_TYPE => {
                (*node.cast::<vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>>()).timeline_semaphore = vk::TRUE;
            }
            vk::PhysicalDeviceSynchronization2Features::STRUCTURE_TYPE => {
                (*node.cast::<vk::PhysicalDeviceSynchronization2Features<'_>>()).synchronization2 = vk::TRUE;
            }
            vk::PhysicalDeviceRayTracingPipelineFeaturesKHR::STRUCTURE_TYPE => {
                (*node.cast::<vk::PhysicalDeviceRayTracingPipelineFeaturesKHR<'_>>()).ray_tracing_pipeline = vk::TRUE;
            }
            vk::PhysicalDevicePresentWaitFeaturesKHR::STRUCTURE_TYPE => {
                (*node.cast::<vk::PhysicalDevicePresentWaitFeaturesKHR<'_>>()).present_wait = vk::TRUE;
            }
            vk::PhysicalDeviceCoherentMemoryFeaturesAMD::STRUCTURE_TYPE if settings.device_coherent => {
                (*node.cast::<vk::PhysicalDeviceCoherentMemoryFeaturesAMD<'_>>()).device_coherent_memory = vk::TRUE;
            }
            vk::PhysicalDeviceFaultFeaturesEXT::STRUCTURE_TYPE if settings.ext_fault => {
                let found = &mut *node.cast::<vk::PhysicalDeviceFaultFeaturesEXT<'_>>();
                found.device_fault = vk::TRUE;
                found.device_fault_vendor_binary = vk::TRUE;
            }
            khr::FaultFeatures::STRUCTURE_TYPE if settings.native_fault => {
                let found = &mut *node.cast::<khr::FaultFeatures>();
                found.device_fault = vk::TRUE;
                found.device_fault_vendor_binary = vk::TRUE;
                found.device_fault_report_masked = vk::FALSE;
                found.device_fault_device_lost_on_masked = vk::FALSE;
            }
            khr::ShaderAbortFeatures::STRUCTURE_TYPE if settings.native_abort => {
                (*node.cast::<khr::ShaderAbortFeatures>()).shader_abort = vk::TRUE;
            }
            khr::ShaderConstantDataFeatures::STRUCTURE_TYPE if settings.native_data => {
                (*node.cast::<khr::ShaderConstantDataFeatures>()).shader_constant_data = vk::TRUE;
            }
            _ => {}
        }
    }
}
