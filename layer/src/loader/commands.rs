//! The commands of Vulkan that the layer calls or intercepts. Each is declared here, and nowhere else.
//!
//! ```text
//! kind command [| alias]: type => policy (parameters);     intercepted
//! command: type;                                           called only
//! ```
//!
//! `loader::dispatch` makes the tables of the next layer's functions from the rows, and `intercept::table` the layer's entry
//! points. An alias is a command of the same type and policy; where the next layer lacks one of the two, the other is called.
//! `intercept::table` explains the kinds, `intercept::policy` the policies and their parameters, of which the first, the
//! handle, is left out. To intercept a command, add a row. It needs code only if no policy fits: `custom (file::function)`.
//!
//! Every command that can return `VK_ERROR_DEVICE_LOST` is intercepted, except those of a physical device: it is not lost with a
//! logical device, so `vkCreateDevice` then succeeds, and `vkAcquireWinrtDisplayNV` and `vkGetWinrtDisplayNV` pass. Of
//! the commands of a command buffer, only the two that may reset it are intercepted; with `commands = on`, also those of
//! `loader::recorded`.

/// Passes the rows of all commands to the macro `$with`, in groups.
macro_rules! commands {
    ($with:ident) => {
        $with! {
            // Intercepted, and called by no table.
            global {
                Instance vkCreateInstance: vk::PFN_vkCreateInstance => custom (instance::create);
                Instance vkEnumerateInstanceExtensionProperties: vk::PFN_vkEnumerateInstanceExtensionProperties
                    => custom (instance::enumerate_extensions);
                Instance vkEnumerateInstanceLayerProperties: vk::PFN_vkEnumerateInstanceLayerProperties
                    => custom (instance::enumerate_layers);
                PhysicalDevice vkEnumerateDeviceLayerProperties: vk::PFN_vkEnumerateDeviceLayerProperties
                    => custom (physical_device::enumerate_layers);
            }
            instance {
                Instance vkDestroyInstance: vk::PFN_vkDestroyInstance => custom (instance::destroy);
                Instance vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT
                    => custom (debug_utils::create_messenger);
                Instance vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT
                    => custom (debug_utils::destroy_messenger);

                PhysicalDevice vkCreateDevice: vk::PFN_vkCreateDevice => custom (device_creation::create);
                PhysicalDevice vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties
                    => custom (physical_device::enumerate_extensions);
                PhysicalDevice vkGetPhysicalDeviceFeatures2 | vkGetPhysicalDeviceFeatures2KHR:
                    vk::PFN_vkGetPhysicalDeviceFeatures2 => query (vk::PhysicalDeviceFeatures2<'_>);
                PhysicalDevice vkGetPhysicalDeviceProperties2 | vkGetPhysicalDeviceProperties2KHR:
                    vk::PFN_vkGetPhysicalDeviceProperties2 => query (vk::PhysicalDeviceProperties2<'_>);
                PhysicalDevice vkGetPhysicalDeviceToolProperties | vkGetPhysicalDeviceToolPropertiesEXT:
                    vk::PFN_vkGetPhysicalDeviceToolProperties => query_tools ();
            }
            called_on_instances {
                vkGetPhysicalDeviceProperties: vk::PFN_vkGetPhysicalDeviceProperties;
                vkGetPhysicalDeviceFeatures: vk::PFN_vkGetPhysicalDeviceFeatures;
                vkGetPhysicalDeviceQueueFamilyProperties: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties;
                vkGetPhysicalDeviceMemoryProperties: vk::PFN_vkGetPhysicalDeviceMemoryProperties;
                vkGetPhysicalDeviceExternalBufferProperties: vk::PFN_vkGetPhysicalDeviceExternalBufferProperties;
            }
            device {
                AlwaysDevice vkDestroyDevice: vk::PFN_vkDestroyDevice => custom (device::destroy);
                Device vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle => custom (device::wait_idle);

                Device vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue => custom (queue::get);
                Device vkGetDeviceQueue2: vk::PFN_vkGetDeviceQueue2 => custom (queue::get2);
                Device vkQueueSubmit: vk::PFN_vkQueueSubmit => submit (vk::SubmitInfo<'_>);
                Device vkQueueSubmit2 | vkQueueSubmit2KHR: vk::PFN_vkQueueSubmit2 => submit (vk::SubmitInfo2<'_>);
                Device vkQueueBindSparse: vk::PFN_vkQueueBindSparse => submit (vk::BindSparseInfo<'_>);
                Device vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle => custom (queue::wait_idle);
                Device vkQueuePresentKHR: vk::PFN_vkQueuePresentKHR => custom (queue::present);
                Device vkQueueSetPerfHintQCOM: vk_ext::QueueSetPerfHint => queue (info: *const c_void);

                Device vkGetFenceStatus: vk::PFN_vkGetFenceStatus => custom (fence::status);
                Device vkWaitForFences: vk::PFN_vkWaitForFences => custom (fence::wait);
                Device vkGetSemaphoreCounterValue | vkGetSemaphoreCounterValueKHR: vk::PFN_vkGetSemaphoreCounterValue
                    => custom (semaphore::value);
                Device vkWaitSemaphores | vkWaitSemaphoresKHR: vk::PFN_vkWaitSemaphores => custom (semaphore::wait);
                Device vkGetEventStatus: vk::PFN_vkGetEventStatus => observe (event: vk::Event);
                Device vkGetQueryPoolResults: vk::PFN_vkGetQueryPoolResults => custom (query::results);

                Device vkCreateSwapchainKHR: vk::PFN_vkCreateSwapchainKHR => create (
                    info: *const vk::SwapchainCreateInfoKHR<'_>,
                    allocator: *const vk::AllocationCallbacks<'_>,
                    swapchain: *mut vk::SwapchainKHR
                );
                Device vkCreateSharedSwapchainsKHR: vk::PFN_vkCreateSharedSwapchainsKHR => create (
                    count: u32,
                    infos: *const vk::SwapchainCreateInfoKHR<'_>,
                    allocator: *const vk::AllocationCallbacks<'_>,
                    swapchains: *mut vk::SwapchainKHR
                );
                Device vkAcquireNextImageKHR: vk::PFN_vkAcquireNextImageKHR => wait ([timeout]
                    swapchain: vk::SwapchainKHR,
                    timeout: u64,
                    semaphore: vk::Semaphore,
                    fence: vk::Fence,
                    index: *mut u32
                );
                Device vkAcquireNextImage2KHR: vk::PFN_vkAcquireNextImage2KHR
                    => wait ([*info] info: *const vk::AcquireNextImageInfoKHR<'_>, index: *mut u32);
                Device vkGetSwapchainStatusKHR: vk::PFN_vkGetSwapchainStatusKHR => observe (swapchain: vk::SwapchainKHR);
                Device vkGetSwapchainCounterEXT: vk::PFN_vkGetSwapchainCounterEXT
                    => observe (swapchain: vk::SwapchainKHR, counter: vk::SurfaceCounterFlagsEXT, value: *mut u64);
                Device vkWaitForPresentKHR: vk::PFN_vkWaitForPresentKHR
                    => wait ([timeout] swapchain: vk::SwapchainKHR, present_id: u64, timeout: u64);
                Device vkWaitForPresent2KHR: vk_ext::WaitForPresent2
                    => wait ([*info] swapchain: vk::SwapchainKHR, info: *const vk_ext::PresentWait2Info);
                Device vkGetRefreshCycleDurationGOOGLE: vk::PFN_vkGetRefreshCycleDurationGOOGLE
                    => observe (swapchain: vk::SwapchainKHR, properties: *mut vk::RefreshCycleDurationGOOGLE);
                Device vkGetPastPresentationTimingGOOGLE: vk::PFN_vkGetPastPresentationTimingGOOGLE => observe (
                    swapchain: vk::SwapchainKHR,
                    count: *mut u32,
                    timings: *mut vk::PastPresentationTimingGOOGLE
                );
                Device vkGetPastPresentationTimingEXT: vk_ext::GetPastPresentationTiming
                    => observe (info: *const c_void, properties: *mut c_void);

                Shader vkCreateShaderModule: vk::PFN_vkCreateShaderModule => custom (shader_module::create);
                Device vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule => custom (shader_module::destroy);
                Device vkGetShaderModuleIdentifierEXT: vk::PFN_vkGetShaderModuleIdentifierEXT
                    => custom (shader_module::identifier);
                Device vkGetShaderModuleCreateInfoIdentifierEXT: vk::PFN_vkGetShaderModuleCreateInfoIdentifierEXT
                    => custom (shader_module::create_info_identifier);
                Shader vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines => custom (pipeline::create_graphics);
                Shader vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines => custom (pipeline::create_compute);
                Shader vkCreateRayTracingPipelinesKHR: vk::PFN_vkCreateRayTracingPipelinesKHR
                    => custom (pipeline::create_ray_tracing);
                Shader vkCreateRayTracingPipelinesNV: vk::PFN_vkCreateRayTracingPipelinesNV
                    => custom (pipeline::create_ray_tracing_nv);
                Device vkGetPipelineKeyKHR: vk_ext::GetPipelineKey => custom (pipeline_key::key);
                Device vkCreatePipelineBinariesKHR: vk_ext::CreatePipelineBinaries
                    => custom (pipeline_key::create_binaries);
                Device vkGetPipelineIndirectMemoryRequirementsNV: vk::PFN_vkGetPipelineIndirectMemoryRequirementsNV
                    => custom (pipeline_key::indirect_memory_requirements);
                Device vkDeferredOperationJoinKHR: vk::PFN_vkDeferredOperationJoinKHR
                    => custom (pipeline::join_deferred_operation);
                Device vkGetDeferredOperationResultKHR: vk::PFN_vkGetDeferredOperationResultKHR
                    => custom (pipeline::deferred_operation_result);
                Device vkDestroyDeferredOperationKHR: vk::PFN_vkDestroyDeferredOperationKHR
                    => custom (pipeline::destroy_deferred_operation);
                Shader vkCreateShadersEXT: vk::PFN_vkCreateShadersEXT => custom (shader_object::create);
                Device vkGetShaderBinaryDataEXT: vk::PFN_vkGetShaderBinaryDataEXT => custom (shader_object::binary_data);
                Device vkSetDebugUtilsObjectNameEXT: vk::PFN_vkSetDebugUtilsObjectNameEXT
                    => custom (debug_utils::set_object_name);
                Device vkQueueBeginDebugUtilsLabelEXT: vk::PFN_vkQueueBeginDebugUtilsLabelEXT
                    => custom (debug_utils::begin_queue_label);
                Device vkQueueEndDebugUtilsLabelEXT: vk::PFN_vkQueueEndDebugUtilsLabelEXT
                    => custom (debug_utils::end_queue_label);
                Device vkQueueInsertDebugUtilsLabelEXT: vk::PFN_vkQueueInsertDebugUtilsLabelEXT
                    => custom (debug_utils::insert_queue_label);

                Addressed vkCreateBuffer: vk::PFN_vkCreateBuffer => custom (buffer::create);
                Addressed vkBindBufferMemory: vk::PFN_vkBindBufferMemory => custom (buffer::bind);
                Addressed vkBindBufferMemory2 | vkBindBufferMemory2KHR: vk::PFN_vkBindBufferMemory2
                    => custom (buffer::bind2);

                Device vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer => custom (command_buffer::begin);
                Device vkResetCommandBuffer: vk::PFN_vkResetCommandBuffer => custom (command_buffer::reset);
                Device vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers => custom (command_buffer::allocate);
                Device vkFreeCommandBuffers: vk::PFN_vkFreeCommandBuffers => custom (command_buffer::free);
                Device vkResetCommandPool: vk::PFN_vkResetCommandPool => custom (command_buffer::reset_pool);
                Device vkFreeDescriptorSets: vk::PFN_vkFreeDescriptorSets
                    => reset (pool: vk::DescriptorPool, count: u32, sets: *const vk::DescriptorSet);
                Device vkResetDescriptorPool: vk::PFN_vkResetDescriptorPool
                    => reset (pool: vk::DescriptorPool, flags: vk::DescriptorPoolResetFlags);

                Device vkGetDeviceFaultInfoEXT: vk::PFN_vkGetDeviceFaultInfoEXT => custom (device_fault::info_ext);
                Fault vkGetDeviceFaultReportsKHR: vk_ext::GetDeviceFaultReports => custom (device_fault::reports);
                Fault vkGetDeviceFaultDebugInfoKHR: vk_ext::GetDeviceFaultDebugInfo => custom (device_fault::debug_info);
            }
            called_on_devices {
                vkCreateFence: vk::PFN_vkCreateFence;
                vkResetFences: vk::PFN_vkResetFences;
                vkGetBufferMemoryRequirements: vk::PFN_vkGetBufferMemoryRequirements;
                vkAllocateMemory: vk::PFN_vkAllocateMemory;
                vkMapMemory: vk::PFN_vkMapMemory;
                vkGetBufferDeviceAddress: vk::PFN_vkGetBufferDeviceAddress;
                vkGetBufferDeviceAddressKHR: vk::PFN_vkGetBufferDeviceAddress;
                vkGetBufferDeviceAddressEXT: vk::PFN_vkGetBufferDeviceAddress;
                vkGetBufferOpaqueCaptureAddress: vk::PFN_vkGetBufferOpaqueCaptureAddress;
                vkGetBufferOpaqueCaptureAddressKHR: vk::PFN_vkGetBufferOpaqueCaptureAddress;
                vkGetDeviceMemoryOpaqueCaptureAddress: vk::PFN_vkGetDeviceMemoryOpaqueCaptureAddress;
                vkGetDeviceMemoryOpaqueCaptureAddressKHR: vk::PFN_vkGetDeviceMemoryOpaqueCaptureAddress;
                vkGetMemoryHostPointerPropertiesEXT: vk::PFN_vkGetMemoryHostPointerPropertiesEXT;
            }
            // Intercepted: they destroy or free one object, and need no code of their own.
            destroy {
                vkDestroyAccelerationStructureKHR vkDestroyAccelerationStructureNV vkDestroyBuffer
                vkDestroyBufferCollectionFUCHSIA vkDestroyBufferView vkDestroyCommandPool vkDestroyCuFunctionNVX
                vkDestroyCuModuleNVX vkDestroyCudaFunctionNV vkDestroyCudaModuleNV vkDestroyDataGraphPipelineSessionARM
                vkDestroyDescriptorPool vkDestroyDescriptorSetLayout vkDestroyDescriptorUpdateTemplate
                vkDestroyDescriptorUpdateTemplateKHR vkDestroyEvent vkDestroyFence vkDestroyFramebuffer
                vkDestroyGpaSessionAMD vkDestroyImage vkDestroyImageView vkDestroyIndirectCommandsLayoutEXT
                vkDestroyIndirectCommandsLayoutNV vkDestroyIndirectExecutionSetEXT vkDestroyMicromapEXT
                vkDestroyOpticalFlowSessionNV vkDestroyPipeline vkDestroyPipelineBinaryKHR vkDestroyPipelineCache
                vkDestroyPipelineLayout vkDestroyPrivateDataSlot vkDestroyPrivateDataSlotEXT vkDestroyQueryPool
                vkDestroyRenderPass vkDestroySampler vkDestroySamplerYcbcrConversion
                vkDestroySamplerYcbcrConversionKHR vkDestroySemaphore vkDestroyShaderEXT
                vkDestroyShaderInstrumentationARM vkDestroySwapchainKHR vkDestroyTensorARM vkDestroyTensorViewARM
                vkDestroyValidationCacheEXT vkDestroyVideoSessionKHR vkDestroyVideoSessionParametersKHR vkFreeMemory
            }
        }
    };
}
pub(crate) use commands;
