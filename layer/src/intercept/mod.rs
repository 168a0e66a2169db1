//! The functions that the layer puts before the next layer's: one file per Vulkan object, and their table.
//!
//! Every command that may return `VK_ERROR_DEVICE_LOST` is here, except the three of a physical device: a lost logical
//! device does not lose its physical device (`vkCreateDevice` must then succeed, and is here for another reason;
//! `vkAcquireWinrtDisplayNV` and `vkGetWinrtDisplayNV` pass). No command-buffer function is here.

mod debug_utils;
mod device;
mod device_fault;
mod event;
mod fence;
mod instance;
mod physical_device;
mod pipeline;
mod pipeline_key;
mod pools;
mod query;
mod queue;
mod semaphore;
mod shader_module;
mod shader_object;
pub mod stages;
mod swapchain;
mod wait;

use crate::loader::dispatch::find_destroy;
use crate::loader::ffi;
use ash::vk;
use std::ffi::CStr;
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a function belongs to, for the functions that answer with functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An instance, or none.
    Instance,
    /// A physical device.
    PhysicalDevice,
    /// A device: given out where the next layer has the function and the device uses the extensions.
    Device,
    /// A device: given out always.
    AlwaysDevice,
    /// `VK_KHR_device_fault`: given out where that is enabled.
    Fault,
}

/// What is returned for a function that the next layer lacks.
const MISSING: vk::Result = vk::Result::ERROR_EXTENSION_NOT_PRESENT;

/// Runs the body of an entry point. A panic must not leave it: it becomes `fallback`.
pub fn guarded<R>(fallback: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(fallback)
}

/// Runs the body of a command with a result.
fn command(body: impl FnOnce() -> vk::Result) -> vk::Result {
    guarded(vk::Result::ERROR_UNKNOWN, body)
}

macro_rules! intercepts {
    ($($kind:ident $name:ident: $pfn:ty = $own:path,)*) => {
        /// Our function of a name.
        pub fn find(name: &CStr) -> Option<(Kind, unsafe extern "system" fn())> {
            let name = name.to_bytes();
            $(if name == stringify!($name).as_bytes() {
                let own: $pfn = $own;
                // SAFETY: function pointers of one size; the caller casts it back to the type that the name stands for.
                return Some((Kind::$kind, unsafe { transmute::<$pfn, unsafe extern "system" fn()>(own) }));
            })*
            // SAFETY: as above.
            find_destroy(name).map(|own| unsafe {
                (Kind::Device, transmute::<crate::loader::dispatch::PfnDestroy, unsafe extern "system" fn()>(own))
            })
        }
    };
}

intercepts! {
    Instance vkGetInstanceProcAddr: vk::PFN_vkGetInstanceProcAddr = crate::loader::entry::get_instance_proc_addr,
    Instance vkCreateInstance: vk::PFN_vkCreateInstance = instance::create,
    Instance vkDestroyInstance: vk::PFN_vkDestroyInstance = instance::destroy,
    Instance vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties = instance::enumerate_extensions,
    Instance vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties = instance::enumerate_layers,
    Instance vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT = debug_utils::create_messenger,
    Instance vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT = debug_utils::destroy_messenger,
    Instance vk_layerGetPhysicalDeviceProcAddr: ffi::PfnGetPhysicalDeviceProcAddr = crate::loader::entry::get_physical_device_proc_addr,

    PhysicalDevice vkCreateDevice: vk::PFN_vkCreateDevice = device::create,
    PhysicalDevice vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties = physical_device::enumerate_extensions,
    PhysicalDevice vkEnumerateDeviceLayerProperties: vk::PFN_vkEnumerateDeviceLayerProperties = physical_device::enumerate_layers,
    PhysicalDevice vkGetPhysicalDeviceFeatures2: vk::PFN_vkGetPhysicalDeviceFeatures2 = physical_device::features2,
    PhysicalDevice vkGetPhysicalDeviceFeatures2KHR: vk::PFN_vkGetPhysicalDeviceFeatures2 = physical_device::features2_khr,
    PhysicalDevice vkGetPhysicalDeviceProperties2: vk::PFN_vkGetPhysicalDeviceProperties2 = physical_device::properties2,
    PhysicalDevice vkGetPhysicalDeviceProperties2KHR: vk::PFN_vkGetPhysicalDeviceProperties2 = physical_device::properties2_khr,
    PhysicalDevice vkGetPhysicalDeviceToolProperties: vk::PFN_vkGetPhysicalDeviceToolProperties = physical_device::tool_properties,
    PhysicalDevice vkGetPhysicalDeviceToolPropertiesEXT: vk::PFN_vkGetPhysicalDeviceToolProperties = physical_device::tool_properties_ext,

    AlwaysDevice vkGetDeviceProcAddr: vk::PFN_vkGetDeviceProcAddr = crate::loader::entry::get_device_proc_addr,
    AlwaysDevice vkDestroyDevice: vk::PFN_vkDestroyDevice = device::destroy,
    Device vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle = device::wait_idle,

    Device vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue = queue::get,
    Device vkGetDeviceQueue2: vk::PFN_vkGetDeviceQueue2 = queue::get2,
    Device vkQueueSubmit: vk::PFN_vkQueueSubmit = queue::submit,
    Device vkQueueSubmit2: vk::PFN_vkQueueSubmit2 = queue::submit2,
    Device vkQueueSubmit2KHR: vk::PFN_vkQueueSubmit2 = queue::submit2_khr,
    Device vkQueueBindSparse: vk::PFN_vkQueueBindSparse = queue::bind_sparse,
    Device vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle = queue::wait_idle,
    Device vkQueuePresentKHR: vk::PFN_vkQueuePresentKHR = queue::present,
    Device vkQueueSetPerfHintQCOM: ffi::PfnQueueSetPerfHint = queue::set_perf_hint,

    Device vkGetFenceStatus: vk::PFN_vkGetFenceStatus = fence::status,
    Device vkWaitForFences: vk::PFN_vkWaitForFences = fence::wait,
    Device vkGetSemaphoreCounterValue: vk::PFN_vkGetSemaphoreCounterValue = semaphore::counter_value,
    Device vkGetSemaphoreCounterValueKHR: vk::PFN_vkGetSemaphoreCounterValue = semaphore::counter_value_khr,
    Device vkWaitSemaphores: vk::PFN_vkWaitSemaphores = semaphore::wait,
    Device vkWaitSemaphoresKHR: vk::PFN_vkWaitSemaphores = semaphore::wait_khr,
    Device vkGetEventStatus: vk::PFN_vkGetEventStatus = event::status,
    Device vkGetQueryPoolResults: vk::PFN_vkGetQueryPoolResults = query::results,

    Device vkCreateSwapchainKHR: vk::PFN_vkCreateSwapchainKHR = swapchain::create,
    Device vkCreateSharedSwapchainsKHR: vk::PFN_vkCreateSharedSwapchainsKHR = swapchain::create_shared,
    Device vkAcquireNextImageKHR: vk::PFN_vkAcquireNextImageKHR = swapchain::acquire,
    Device vkAcquireNextImage2KHR: vk::PFN_vkAcquireNextImage2KHR = swapchain::acquire2,
    Device vkGetSwapchainStatusKHR: vk::PFN_vkGetSwapchainStatusKHR = swapchain::status,
    Device vkGetSwapchainCounterEXT: vk::PFN_vkGetSwapchainCounterEXT = swapchain::counter,
    Device vkWaitForPresentKHR: vk::PFN_vkWaitForPresentKHR = swapchain::wait_for_present,
    Device vkWaitForPresent2KHR: ffi::PfnWaitForPresent2 = swapchain::wait_for_present2,
    Device vkGetRefreshCycleDurationGOOGLE: vk::PFN_vkGetRefreshCycleDurationGOOGLE = swapchain::refresh_cycle_duration,
    Device vkGetPastPresentationTimingGOOGLE: vk::PFN_vkGetPastPresentationTimingGOOGLE = swapchain::past_timing_google,
    Device vkGetPastPresentationTimingEXT: ffi::PfnGetPastPresentationTimingExt = swapchain::past_timing_ext,

    Device vkCreateShaderModule: vk::PFN_vkCreateShaderModule = shader_module::create,
    Device vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule = shader_module::destroy,
    Device vkGetShaderModuleCreateInfoIdentifierEXT: vk::PFN_vkGetShaderModuleCreateInfoIdentifierEXT = shader_module::create_info_identifier,
    Device vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines = pipeline::create_graphics,
    Device vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines = pipeline::create_compute,
    Device vkCreateRayTracingPipelinesKHR: vk::PFN_vkCreateRayTracingPipelinesKHR = pipeline::create_ray_tracing,
    Device vkCreateRayTracingPipelinesNV: vk::PFN_vkCreateRayTracingPipelinesNV = pipeline::create_ray_tracing_nv,
    Device vkGetPipelineKeyKHR: ffi::PfnGetPipelineKey = pipeline_key::key,
    Device vkCreatePipelineBinariesKHR: ffi::PfnCreatePipelineBinaries = pipeline_key::create_binaries,
    Device vkGetPipelineIndirectMemoryRequirementsNV: vk::PFN_vkGetPipelineIndirectMemoryRequirementsNV = pipeline_key::indirect_memory_requirements,
    Device vkDestroyDeferredOperationKHR: vk::PFN_vkDestroyDeferredOperationKHR = pipeline::destroy_deferred_operation,
    Device vkCreateShadersEXT: vk::PFN_vkCreateShadersEXT = shader_object::create,
    Device vkGetShaderBinaryDataEXT: vk::PFN_vkGetShaderBinaryDataEXT = shader_object::binary_data,
    Device vkSetDebugUtilsObjectNameEXT: vk::PFN_vkSetDebugUtilsObjectNameEXT = debug_utils::set_object_name,

    Device vkFreeCommandBuffers: vk::PFN_vkFreeCommandBuffers = pools::free_command_buffers,
    Device vkFreeDescriptorSets: vk::PFN_vkFreeDescriptorSets = pools::free_descriptor_sets,
    Device vkResetCommandPool: vk::PFN_vkResetCommandPool = pools::reset_command_pool,
    Device vkResetDescriptorPool: vk::PFN_vkResetDescriptorPool = pools::reset_descriptor_pool,

    Device vkGetDeviceFaultInfoEXT: vk::PFN_vkGetDeviceFaultInfoEXT = device_fault::info_ext,
    Fault vkGetDeviceFaultReportsKHR: ffi::PfnGetDeviceFaultReports = device_fault::reports,
    Fault vkGetDeviceFaultDebugInfoKHR: ffi::PfnGetDeviceFaultDebugInfo = device_fault::debug_info,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSABLE: &str = include_str!("device_lost_commands.txt");

    #[test]
    fn every_device_command_that_can_report_a_loss_is_intercepted() {
        let listed = LOSABLE.lines().filter(|line| !line.starts_with('#'));
        let mut checked = 0;
        for (owner, name) in listed.filter_map(|line| line.split_once(' ')) {
            let name = std::ffi::CString::new(name).expect("no NUL in a name");
            let kind = find(&name).map(|found| found.0);
            match (owner, name.as_bytes()) {
                ("device" | "queue", _) => assert_eq!(kind, Some(Kind::Device), "{name:?}"),
                ("physical", b"vkCreateDevice") => assert_eq!(kind, Some(Kind::PhysicalDevice)),
                ("physical", _) => assert_eq!(kind, None, "{name:?}: a physical device is not lost"),
                _ => panic!("{owner} is no kind of command"),
            }
            checked += 1;
        }
        assert_eq!(checked, 30);
    }

    #[test]
    fn no_command_buffer_function_is_intercepted() {
        for name in [
            c"vkBeginCommandBuffer",
            c"vkEndCommandBuffer",
            c"vkResetCommandBuffer",
            c"vkCmdDispatch",
            c"vkCmdDraw",
        ] {
            assert!(find(name).is_none(), "{name:?}");
        }
    }

    #[test]
    fn a_panic_does_not_leave_an_entry_point() {
        assert_eq!(command(|| panic!("on purpose")), vk::Result::ERROR_UNKNOWN);
    }
}
