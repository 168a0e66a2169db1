//! Entry points that the loader calls first, and the table of all functions.

use crate::handle::{Allocator, Out};
use crate::object::{create_default, destroy};
use crate::state::Device;
use crate::{
    binary, buffer, call_log, command, deferred, device, event, fault, handle, instance, markers, memory, physical,
    pipeline, shader, shader_object, submit, swapchain, sync,
};
use ash::vk;
use std::ffi::{CStr, c_char, c_void};

/// Version of the loader/driver interface: since version 5, the driver accepts any API version and the loader owns surfaces.
const INTERFACE_VERSION: u32 = 5;

type Function = unsafe extern "system" fn();

/// Dispatch level of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Instance,
    Physical,
    Device,
}

/// Negotiates the interface version.
#[unsafe(no_mangle)]
pub extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: &mut u32) -> vk::Result {
    *version = INTERFACE_VERSION.min(*version);
    vk::Result::SUCCESS
}

/// Function of the driver with a name.
///
/// # Safety
/// `name` must be a C string.
unsafe fn find(name: *const c_char) -> Option<(Kind, Function)> {
    // SAFETY: the caller passes a C string.
    find_name(unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// Looks up any function of the driver.
///
/// # Safety
/// Called by the loader.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    _: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: by the command's valid usage, the name is valid.
    unsafe { find(name) }.map(|found| found.1)
}

/// Looks up a function of a physical device.
///
/// # Safety
/// Called by the loader.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    _: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: by the command's valid usage, the name is valid.
    let found = unsafe { find(name) }.filter(|found| found.0 == Kind::Physical);
    found.map(|found| found.1)
}

unsafe extern "system" fn get_device_proc_addr(device: &Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: by the command's valid usage, the name is valid.
    let (found, name) = unsafe { (find(name), CStr::from_ptr(name)) };
    let missing = match name.to_bytes() {
        b"vkGetDeviceFaultInfoEXT" => !device.settings.ext_fault,
        b"vkGetDeviceFaultReportsKHR" | b"vkGetDeviceFaultDebugInfoKHR" => !device.settings.native_fault,
        b"vkCmdWriteBufferMarkerAMD" => !device.settings.amd_markers,
        b"vkCmdSetCheckpointNV" | b"vkGetQueueCheckpointDataNV" => !device.settings.nv_markers,
        b"vkGetMemoryHostPointerPropertiesEXT" => !device.settings.import,
        _ => false,
    };
    let found = found.filter(|found| found.0 == Kind::Device && !missing);
    found.map(|found| found.1)
}

/// Creates an object without state. All commands of this kind have this signature.
extern "system" fn create_token(_: &Device, _: *const c_void, _: Allocator<'_>, object: Out<'_, u64>) -> vk::Result {
    object.write(handle::token());
    vk::Result::SUCCESS
}

extern "system" fn allocate_sets(_: &Device, info: &vk::DescriptorSetAllocateInfo<'_>, sets: *mut u64) -> vk::Result {
    for index in 0..info.descriptor_set_count as usize {
        // SAFETY: by the command's valid usage, the array has as many elements as the info requests.
        unsafe { sets.add(index).write(handle::token()) };
    }
    vk::Result::SUCCESS
}

/// Any command that only returns success. Ignores its arguments, which the caller cleans up in this calling convention.
extern "system" fn succeed() -> vk::Result {
    vk::Result::SUCCESS
}

/// Any command that only reports the loss: the status of swapchains and presentation queries without data.
extern "system" fn status(device: &Device) -> vk::Result {
    device.status()
}

macro_rules! functions {
    ($($kind:ident $($name:ident)|+ = $function:path;)*) => {
        fn find_name(name: &[u8]) -> Option<(Kind, Function)> {
            $($(if name == stringify!($name).as_bytes() {
                return Some((Kind::$kind, erase($function as *const c_void)));
            })+)*
            let core = name.starts_with(b"vkCmd") && name.last().is_some_and(|last| !last.is_ascii_uppercase());
            // Core recording commands without a visible effect.
            core.then(|| (Kind::Device, erase(command::no_op as *const c_void)))
        }
    };
}

fn erase(function: *const c_void) -> Function {
    // SAFETY: `function` is the address of a function; the caller casts it to the type that belongs to its name.
    unsafe { std::mem::transmute::<*const c_void, Function>(function) }
}

functions! {
    Instance vkGetInstanceProcAddr = vk_icdGetInstanceProcAddr;
    Instance vkCreateInstance = instance::create;
    Instance vkDestroyInstance = instance::destroy;
    Instance vkEnumerateInstanceExtensionProperties = instance::enumerate_extensions;
    Instance vkEnumerateInstanceVersion = instance::version;
    Instance vkEnumeratePhysicalDevices = instance::enumerate_physical_devices;
    Instance vkEnumeratePhysicalDeviceGroups | vkEnumeratePhysicalDeviceGroupsKHR = instance::enumerate_groups;

    Physical vkCreateDevice = device::create;
    Physical vkEnumerateDeviceExtensionProperties = physical::enumerate_extensions;
    Physical vkEnumerateDeviceLayerProperties = physical::enumerate_layers;
    Physical vkGetPhysicalDeviceFeatures = physical::features;
    Physical vkGetPhysicalDeviceFeatures2 | vkGetPhysicalDeviceFeatures2KHR = physical::features2;
    Physical vkGetPhysicalDeviceProperties = physical::properties;
    Physical vkGetPhysicalDeviceProperties2 | vkGetPhysicalDeviceProperties2KHR = physical::properties2;
    Physical vkGetPhysicalDeviceMemoryProperties = physical::memory;
    Physical vkGetPhysicalDeviceMemoryProperties2 | vkGetPhysicalDeviceMemoryProperties2KHR = physical::memory2;
    Physical vkGetPhysicalDeviceQueueFamilyProperties = physical::queue_families;
    Physical vkGetPhysicalDeviceQueueFamilyProperties2 | vkGetPhysicalDeviceQueueFamilyProperties2KHR = physical::queue_families2;
    Physical vkGetPhysicalDeviceFormatProperties = physical::format;
    Physical vkGetPhysicalDeviceFormatProperties2 | vkGetPhysicalDeviceFormatProperties2KHR = physical::format2;
    Physical vkGetPhysicalDeviceImageFormatProperties = physical::image_format;
    Physical vkGetPhysicalDeviceSparseImageFormatProperties = physical::sparse_image_format;
    Physical vkGetPhysicalDeviceExternalBufferProperties | vkGetPhysicalDeviceExternalBufferPropertiesKHR = physical::external_buffer;
    Physical vkGetPhysicalDeviceSurfaceSupportKHR = swapchain::surface_support;
    Physical vkGetPhysicalDeviceSurfaceCapabilitiesKHR = swapchain::surface_capabilities;
    Physical vkGetPhysicalDeviceSurfaceFormatsKHR = swapchain::surface_formats;
    Physical vkGetPhysicalDeviceSurfacePresentModesKHR = swapchain::present_modes;

    Device vkGetDeviceProcAddr | vkabortDriverGetDeviceProcAddr = get_device_proc_addr;
    Device vkabortDriverCallLog = call_log::call_log;
    Device vkabortDriverWords = call_log::words;
    Device vkDestroyDevice = device::destroy;
    Device vkGetDeviceQueue = device::queue;
    Device vkGetDeviceQueue2 = device::queue2;
    Device vkDeviceWaitIdle = device::wait_idle;
    Device vkQueueSubmit = submit::submit;
    Device vkQueueSubmit2 | vkQueueSubmit2KHR = submit::submit2;
    Device vkQueueBindSparse = submit::bind_sparse;
    Device vkQueueWaitIdle = submit::wait_idle;
    Device vkQueuePresentKHR = swapchain::present;
    Device vkQueueSetPerfHintQCOM = swapchain::set_perf_hint;

    Device vkCreateFence = sync::create_fence;
    Device vkDestroyFence = destroy::<sync::Fence>;
    Device vkResetFences = sync::reset_fences;
    Device vkGetFenceStatus = sync::fence_status;
    Device vkWaitForFences = sync::wait_for_fences;
    Device vkCreateSemaphore = sync::create_semaphore;
    Device vkDestroySemaphore = destroy::<sync::Semaphore>;
    Device vkGetSemaphoreCounterValue | vkGetSemaphoreCounterValueKHR = sync::counter_value;
    Device vkSignalSemaphore | vkSignalSemaphoreKHR = sync::signal_semaphore;
    Device vkWaitSemaphores | vkWaitSemaphoresKHR = sync::wait_semaphores;
    Device vkCreateEvent = create_default::<event::Event>;
    Device vkDestroyEvent = destroy::<event::Event>;
    Device vkGetEventStatus = event::event_status;
    Device vkSetEvent = event::set_event::<true>;
    Device vkResetEvent = event::set_event::<false>;
    Device vkCreateQueryPool = event::create_query_pool;
    Device vkDestroyQueryPool = destroy::<event::Queries>;
    Device vkResetQueryPool | vkResetQueryPoolEXT = event::reset_query_pool;
    Device vkGetQueryPoolResults = event::query_results;

    Device vkAllocateMemory = memory::allocate;
    Device vkFreeMemory = memory::free;
    Device vkMapMemory = memory::map;
    Device vkUnmapMemory = command::no_op;
    Device vkFlushMappedMemoryRanges | vkInvalidateMappedMemoryRanges = succeed;
    Device vkGetDeviceMemoryOpaqueCaptureAddress | vkGetDeviceMemoryOpaqueCaptureAddressKHR = memory::memory_opaque_address;
    Device vkGetMemoryHostPointerPropertiesEXT = memory::host_pointer_properties;
    Device vkCreateBuffer = buffer::create;
    Device vkDestroyBuffer = buffer::destroy;
    Device vkGetBufferMemoryRequirements = buffer::memory_requirements;
    Device vkGetBufferMemoryRequirements2 | vkGetBufferMemoryRequirements2KHR = buffer::memory_requirements2;
    Device vkBindBufferMemory = buffer::bind;
    Device vkBindBufferMemory2 | vkBindBufferMemory2KHR = buffer::bind2;
    Device vkGetBufferDeviceAddress | vkGetBufferDeviceAddressKHR | vkGetBufferDeviceAddressEXT
        | vkGetBufferOpaqueCaptureAddress | vkGetBufferOpaqueCaptureAddressKHR = buffer::address;
    Device vkCreateImage = create_token;
    Device vkDestroyImage = command::no_op;
    Device vkGetImageMemoryRequirements = memory::image_requirements;
    Device vkBindImageMemory = succeed;

    Device vkCreateCommandPool = create_default::<command::Pool>;
    Device vkDestroyCommandPool = destroy::<command::Pool>;
    Device vkResetCommandPool = command::reset_pool;
    Device vkAllocateCommandBuffers = command::allocate;
    Device vkFreeCommandBuffers = command::free;
    Device vkBeginCommandBuffer | vkResetCommandBuffer = command::reset;
    Device vkEndCommandBuffer = succeed;
    Device vkCmdBindPipeline = command::bind_pipeline;
    Device vkCmdBindShadersEXT = command::bind_shaders;
    Device vkCmdDispatch | vkCmdDraw | vkCmdDrawIndexed | vkCmdDispatchIndirect | vkCmdTraceRaysKHR = command::run;
    Device vkCmdBindResourceHeapEXT | vkCmdBindSamplerHeapEXT = command::no_op;
    Device vkCmdSetEvent = command::set_event::<true>;
    Device vkCmdResetEvent = command::set_event::<false>;
    Device vkCmdResetQueryPool = command::reset_queries;
    Device vkCmdEndQuery = command::end_query;
    Device vkCmdWriteTimestamp = command::write_timestamp;

    Device vkCreateShaderModule = shader::create_module;
    Device vkGetShaderModuleIdentifierEXT = shader::module_identifier;
    Device vkGetShaderModuleCreateInfoIdentifierEXT = shader::create_info_identifier;
    Device vkDestroyShaderModule = destroy::<shader::Module>;
    Device vkCreateComputePipelines = pipeline::create::<vk::ComputePipelineCreateInfo<'_>>;
    Device vkCreateGraphicsPipelines = pipeline::create::<vk::GraphicsPipelineCreateInfo<'_>>;
    Device vkCreateRayTracingPipelinesKHR = pipeline::create_ray_tracing;
    Device vkDestroyPipeline = destroy::<shader::Pipeline>;
    Device vkCreateShadersEXT = shader_object::create;
    Device vkDestroyShaderEXT = destroy::<shader::Pipeline>;
    Device vkGetShaderBinaryDataEXT = shader_object::binary;
    Device vkCreatePipelineBinariesKHR = binary::create;
    Device vkDestroyPipelineBinaryKHR = destroy::<binary::Binary>;
    Device vkGetPipelineKeyKHR = binary::key;
    Device vkGetPipelineBinaryDataKHR = binary::data;
    Device vkReleaseCapturedPipelineDataKHR = succeed;
    Device vkCreatePipelineCache = create_default::<pipeline::Cache>;
    Device vkDestroyPipelineCache = destroy::<pipeline::Cache>;
    Device vkGetPipelineCacheData = pipeline::cache_data;
    Device vkMergePipelineCaches = succeed;
    Device vkCreateDeferredOperationKHR = deferred::create;
    Device vkDestroyDeferredOperationKHR = destroy::<deferred::Deferred>;
    Device vkDeferredOperationJoinKHR = deferred::join;
    Device vkGetDeferredOperationMaxConcurrencyKHR = deferred::max_concurrency;
    Device vkGetDeferredOperationResultKHR = deferred::result;

    Device vkCreateBufferView | vkCreateImageView | vkCreateSampler | vkCreateDescriptorPool | vkCreateDescriptorSetLayout
        | vkCreatePipelineLayout | vkCreateRenderPass | vkCreateRenderPass2 | vkCreateFramebuffer
        | vkCreateDescriptorUpdateTemplate | vkCreatePrivateDataSlot = create_token;
    Device vkDestroyBufferView | vkDestroyImageView | vkDestroySampler | vkDestroyDescriptorPool
        | vkDestroyDescriptorSetLayout | vkDestroyPipelineLayout | vkDestroyRenderPass | vkDestroyFramebuffer
        | vkDestroyDescriptorUpdateTemplate | vkDestroyPrivateDataSlot = command::no_op;
    Device vkAllocateDescriptorSets = allocate_sets;
    Device vkFreeDescriptorSets | vkResetDescriptorPool = succeed;
    Device vkUpdateDescriptorSets = command::no_op;

    Device vkCreateSwapchainKHR = swapchain::create;
    Device vkCreateSharedSwapchainsKHR = swapchain::create_shared;
    Device vkDestroySwapchainKHR = destroy::<swapchain::Swapchain>;
    Device vkGetSwapchainImagesKHR = swapchain::images;
    Device vkAcquireNextImageKHR = swapchain::acquire;
    Device vkAcquireNextImage2KHR = swapchain::acquire2;
    Device vkGetSwapchainStatusKHR | vkGetSwapchainCounterEXT | vkGetRefreshCycleDurationGOOGLE | vkGetPastPresentationTimingGOOGLE
        | vkGetPastPresentationTimingEXT = status;
    Device vkWaitForPresentKHR = swapchain::wait_for_present;
    Device vkWaitForPresent2KHR = swapchain::wait_for_present2;

    Device vkCmdWriteBufferMarkerAMD = markers::write;
    Device vkCmdSetCheckpointNV = markers::set_checkpoint;
    Device vkGetQueueCheckpointDataNV = submit::checkpoints;

    Device vkGetDeviceFaultInfoEXT = fault::info_ext;
    Device vkGetDeviceFaultReportsKHR = fault::reports;
    Device vkGetDeviceFaultDebugInfoKHR = fault::debug_info;
}
