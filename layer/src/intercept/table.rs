//! Every command that the layer intercepts, with its owner and its policy.
//!
//! Device commands have their type in [`DeviceTable`]. To intercept another one, add it there and add its row here; only a
//! command that no policy fits needs code, by `custom (file::function)`. Commands that destroy one object are listed in
//! `loader/dispatch.rs` alone.
//!
//! Every command that can return `VK_ERROR_DEVICE_LOST` is here, except those of a physical device: it is not lost with a
//! logical device, so `vkCreateDevice` then succeeds, and `vkAcquireWinrtDisplayNV` and `vkGetWinrtDisplayNV` pass. Of
//! the commands of a command buffer, only the two that may reset it are here.

use super::{
    MISSING, command, debug_utils, destroy, device_creation, guarded, instance, next_of, physical_device, queue, wait,
};
use crate::device_loss::DrainBudget;
use crate::loader::dispatch::{DeviceTable, PfnDestroy, VoidFn};
use ash::vk;
use std::ffi::{CStr, c_void};
use vk_ext::PresentWait2Info;

/// The owner of a command, and the devices for which the layer's entry point is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An instance, or none.
    Instance,
    /// A physical device.
    PhysicalDevice,
    /// A device. Returned where the device uses the extensions and the next layer has the command.
    Device,
    /// A device; the command takes SPIR-V. Returned as [`Kind::Device`], and to report modules whose aborts have no effect.
    Shader,
    /// A device. Always returned.
    AlwaysDevice,
    /// `VK_KHR_device_fault`. Returned where the device enables it.
    Fault,
}

/// Erases the type of an entry point, which is that of the same entry of a table.
const fn erase<F: Copy>(_: Option<F>, own: F) -> VoidFn {
    assert!(size_of::<F>() == size_of::<VoidFn>());
    // SAFETY: every table entry is a function pointer, and all function pointers have one size and representation.
    unsafe { std::mem::transmute_copy(&own) }
}

macro_rules! instance_commands {
    ($($kind:ident $command:ident: $pfn:ty = $own:path;)*) => {
        fn find_instance(name: &[u8]) -> Option<(Kind, VoidFn)> {
            $(if name == stringify!($command).as_bytes() {
                return Some((Kind::$kind, erase(None::<$pfn>, $own)));
            })*
            None
        }
    };
}

instance_commands! {
    Instance vkCreateInstance: vk::PFN_vkCreateInstance = instance::create;
    Instance vkDestroyInstance: vk::PFN_vkDestroyInstance = instance::destroy;
    Instance vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties = instance::enumerate_extensions;
    Instance vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties = instance::enumerate_layers;
    Instance vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT = debug_utils::create_messenger;
    Instance vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT = debug_utils::destroy_messenger;

    PhysicalDevice vkCreateDevice: vk::PFN_vkCreateDevice = device_creation::create;
    PhysicalDevice vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties = physical_device::enumerate_extensions;
    PhysicalDevice vkEnumerateDeviceLayerProperties: vk::PFN_vkEnumerateDeviceLayerProperties = physical_device::enumerate_layers;
    PhysicalDevice vkGetPhysicalDeviceFeatures2: vk::PFN_vkGetPhysicalDeviceFeatures2 = physical_device::features2;
    PhysicalDevice vkGetPhysicalDeviceFeatures2KHR: vk::PFN_vkGetPhysicalDeviceFeatures2 = physical_device::features2_khr;
    PhysicalDevice vkGetPhysicalDeviceProperties2: vk::PFN_vkGetPhysicalDeviceProperties2 = physical_device::properties2;
    PhysicalDevice vkGetPhysicalDeviceProperties2KHR: vk::PFN_vkGetPhysicalDeviceProperties2 = physical_device::properties2_khr;
    PhysicalDevice vkGetPhysicalDeviceToolProperties: vk::PFN_vkGetPhysicalDeviceToolProperties = physical_device::tool_properties;
    PhysicalDevice vkGetPhysicalDeviceToolPropertiesEXT: vk::PFN_vkGetPhysicalDeviceToolProperties = physical_device::tool_properties_ext;
}

macro_rules! device_commands {
    ($($kind:ident $command:ident $(| $alias:ident)? => $policy:ident $parameters:tt;)*) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        mod entry_points {
            use super::*;
            $(
                $policy! { $command [$command $($alias)?] $parameters }
                $($policy! { $alias [$alias $command] $parameters })?
            )*
        }

        fn find_device(name: &[u8]) -> Option<(Kind, VoidFn)> {
            $(
                if name == stringify!($command).as_bytes() {
                    return Some((Kind::$kind, erase(DeviceTable::EMPTY.$command, entry_points::$command)));
                }
                $(if name == stringify!($alias).as_bytes() {
                    return Some((Kind::$kind, erase(DeviceTable::EMPTY.$alias, entry_points::$alias)));
                })?
            )*
            None
        }
    };
}

device_commands! {
    AlwaysDevice vkDestroyDevice => custom (device::destroy);
    Device vkDeviceWaitIdle => custom (device::wait_idle);

    Device vkGetDeviceQueue => custom (queue::get);
    Device vkGetDeviceQueue2 => custom (queue::get2);
    Device vkQueueSubmit => submit (vk::SubmitInfo<'_>);
    Device vkQueueSubmit2 | vkQueueSubmit2KHR => submit (vk::SubmitInfo2<'_>);
    Device vkQueueBindSparse => queue (count: u32, infos: *const vk::BindSparseInfo<'_>, fence: vk::Fence);
    Device vkQueueWaitIdle => custom (queue::wait_idle);
    Device vkQueuePresentKHR => custom (queue::present);
    Device vkQueueSetPerfHintQCOM => queue (info: *const c_void);

    Device vkGetFenceStatus => custom (fence::status);
    Device vkWaitForFences => custom (fence::wait);
    Device vkGetSemaphoreCounterValue | vkGetSemaphoreCounterValueKHR => custom (semaphore::value);
    Device vkWaitSemaphores | vkWaitSemaphoresKHR => custom (semaphore::wait);
    Device vkGetEventStatus => observe (event: vk::Event);
    Device vkGetQueryPoolResults => custom (query::results);

    Device vkCreateSwapchainKHR => create (
        info: *const vk::SwapchainCreateInfoKHR<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        swapchain: *mut vk::SwapchainKHR
    );
    Device vkCreateSharedSwapchainsKHR => create (
        count: u32,
        infos: *const vk::SwapchainCreateInfoKHR<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        swapchains: *mut vk::SwapchainKHR
    );
    Device vkAcquireNextImageKHR => wait ([timeout]
        swapchain: vk::SwapchainKHR,
        timeout: u64,
        semaphore: vk::Semaphore,
        fence: vk::Fence,
        index: *mut u32
    );
    Device vkAcquireNextImage2KHR => wait ([*info] info: *const vk::AcquireNextImageInfoKHR<'_>, index: *mut u32);
    Device vkGetSwapchainStatusKHR => observe (swapchain: vk::SwapchainKHR);
    Device vkGetSwapchainCounterEXT => observe (
        swapchain: vk::SwapchainKHR,
        counter: vk::SurfaceCounterFlagsEXT,
        value: *mut u64
    );
    Device vkWaitForPresentKHR => wait ([timeout] swapchain: vk::SwapchainKHR, present_id: u64, timeout: u64);
    Device vkWaitForPresent2KHR => wait ([*info] swapchain: vk::SwapchainKHR, info: *const PresentWait2Info);
    Device vkGetRefreshCycleDurationGOOGLE => observe (
        swapchain: vk::SwapchainKHR,
        properties: *mut vk::RefreshCycleDurationGOOGLE
    );
    Device vkGetPastPresentationTimingGOOGLE => observe (
        swapchain: vk::SwapchainKHR,
        count: *mut u32,
        timings: *mut vk::PastPresentationTimingGOOGLE
    );
    Device vkGetPastPresentationTimingEXT => observe (info: *const c_void, properties: *mut c_void);

    Shader vkCreateShaderModule => custom (shader_module::create);
    Device vkDestroyShaderModule => custom (shader_module::destroy);
    Device vkGetShaderModuleIdentifierEXT => custom (shader_module::identifier);
    Device vkGetShaderModuleCreateInfoIdentifierEXT => custom (shader_module::create_info_identifier);
    Shader vkCreateGraphicsPipelines => custom (pipeline::create_graphics);
    Shader vkCreateComputePipelines => custom (pipeline::create_compute);
    Shader vkCreateRayTracingPipelinesKHR => custom (pipeline::create_ray_tracing);
    Shader vkCreateRayTracingPipelinesNV => custom (pipeline::create_ray_tracing_nv);
    Device vkGetPipelineKeyKHR => custom (pipeline_key::key);
    Device vkCreatePipelineBinariesKHR => custom (pipeline_key::create_binaries);
    Device vkGetPipelineIndirectMemoryRequirementsNV => custom (pipeline_key::indirect_memory_requirements);
    Device vkDeferredOperationJoinKHR => custom (pipeline::join_deferred_operation);
    Device vkGetDeferredOperationResultKHR => custom (pipeline::deferred_operation_result);
    Device vkDestroyDeferredOperationKHR => custom (pipeline::destroy_deferred_operation);
    Shader vkCreateShadersEXT => custom (shader_object::create);
    Device vkGetShaderBinaryDataEXT => custom (shader_object::binary_data);
    Device vkSetDebugUtilsObjectNameEXT => custom (debug_utils::set_object_name);
    Device vkQueueBeginDebugUtilsLabelEXT => custom (debug_utils::begin_queue_label);
    Device vkQueueEndDebugUtilsLabelEXT => custom (debug_utils::end_queue_label);
    Device vkQueueInsertDebugUtilsLabelEXT => custom (debug_utils::insert_queue_label);

    // A failed begin keeps the application from recording into a command buffer that the driver may still execute.
    Device vkBeginCommandBuffer => reset (
        [vk::CommandBuffer, ERROR_UNKNOWN] info: *const vk::CommandBufferBeginInfo<'_>
    );
    Device vkResetCommandBuffer => reset ([vk::CommandBuffer, SUCCESS] flags: vk::CommandBufferResetFlags);
    Device vkAllocateCommandBuffers => custom (queue::allocate_command_buffers);
    Device vkFreeCommandBuffers => free (pool: vk::CommandPool, count: u32, buffers: *const vk::CommandBuffer);
    Device vkFreeDescriptorSets => reset (pool: vk::DescriptorPool, count: u32, sets: *const vk::DescriptorSet);
    Device vkResetCommandPool => reset (pool: vk::CommandPool, flags: vk::CommandPoolResetFlags);
    Device vkResetDescriptorPool => reset (pool: vk::DescriptorPool, flags: vk::DescriptorPoolResetFlags);

    Device vkGetDeviceFaultInfoEXT => custom (device_fault::info_ext);
    Fault vkGetDeviceFaultReportsKHR => custom (device_fault::reports);
    Fault vkGetDeviceFaultDebugInfoKHR => custom (device_fault::debug_info);
}

/// The layer's entry point of a command. None if the layer does not intercept it.
pub fn find(name: &CStr) -> Option<(Kind, VoidFn)> {
    let name = name.to_bytes();
    find_instance(name).or_else(|| find_device(name)).or_else(|| {
        let own = destroy::find(name)?;
        Some((Kind::Device, erase(None::<PfnDestroy>, own)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE_LOST_COMMANDS: &str = include_str!("device_lost_commands.txt");

    #[test]
    fn every_device_command_that_can_report_a_loss_is_intercepted() {
        let rows = DEVICE_LOST_COMMANDS.lines().filter(|line| !line.starts_with('#'));
        let mut device_commands = 0;
        for row in rows {
            let (owner, name) = row.split_once(' ').expect("an owner and a command");
            let name = std::ffi::CString::new(name).expect("no NUL in a name");
            let kind = find(&name).map(|found| found.0);
            match (owner, name.as_bytes()) {
                ("device" | "queue", _) => {
                    assert_eq!(kind, Some(Kind::Device), "{name:?}");
                    device_commands += 1;
                }
                ("physical", b"vkCreateDevice") => assert_eq!(kind, Some(Kind::PhysicalDevice)),
                ("physical", _) => assert_eq!(kind, None, "{name:?}: a physical device is not lost"),
                _ => panic!("{owner} does not own commands"),
            }
        }
        assert!(device_commands > 0, "the list is empty");
    }

    #[test]
    fn no_recording_command_is_intercepted() {
        for name in [c"vkEndCommandBuffer", c"vkCmdDispatch", c"vkCmdDraw"] {
            assert!(find(name).is_none(), "{name:?}");
        }
    }
}
