//! Tables of the next layer's functions.
//!
//! Every entry is optional: a driver may lack any function, and callers handle that.

use ash::vk;
use std::ffi::CStr;

/// A function pointer of any type. Cast it to the type of its name before a call.
pub type VoidFn = unsafe extern "system" fn();

macro_rules! next_table {
    ($(#[$doc:meta])* $table:ident { $($function:ident: $pfn:ty,)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, missing_docs)]
        pub struct $table { $(pub $function: Option<$pfn>,)* }

        impl $table {
            /// A table without functions.
            #[allow(dead_code, reason = "only tests need it of some tables")]
            pub const EMPTY: Self = Self { $($function: None,)* };

            /// Looks up every function of the table with `get`.
            ///
            /// # Safety
            /// `get` must answer each name with null or with a function of the type that belongs to the name.
            pub unsafe fn load(get: impl Fn(&CStr) -> vk::PFN_vkVoidFunction) -> Self {
                Self {
                    $($function: {
                        const NAME: &CStr = match CStr::from_bytes_with_nul(
                            concat!(stringify!($function), "\0").as_bytes(),
                        ) {
                            Ok(name) => name,
                            Err(_) => panic!("a function name"),
                        };
                        // SAFETY: `get` answers this name with a function of type `$pfn` (the caller's contract).
                        get(NAME).map(|f| unsafe { std::mem::transmute::<VoidFn, $pfn>(f) })
                    },)*
                }
            }
        }
    };
}

next_table! {
    /// Instance and physical-device functions, looked up once when the instance is created: later lookups return the
    /// top of the layer chain, so this layer's own functions, on loaders before 1.3.251.
    InstanceTable {
        vkDestroyInstance: vk::PFN_vkDestroyInstance,
        vkCreateDevice: vk::PFN_vkCreateDevice,
        vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties,
        vkGetPhysicalDeviceProperties: vk::PFN_vkGetPhysicalDeviceProperties,
        vkGetPhysicalDeviceFeatures: vk::PFN_vkGetPhysicalDeviceFeatures,
        vkGetPhysicalDeviceQueueFamilyProperties: vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties,
        vkGetPhysicalDeviceMemoryProperties: vk::PFN_vkGetPhysicalDeviceMemoryProperties,
        vkGetPhysicalDeviceFeatures2: vk::PFN_vkGetPhysicalDeviceFeatures2,
        vkGetPhysicalDeviceFeatures2KHR: vk::PFN_vkGetPhysicalDeviceFeatures2,
        vkGetPhysicalDeviceProperties2: vk::PFN_vkGetPhysicalDeviceProperties2,
        vkGetPhysicalDeviceProperties2KHR: vk::PFN_vkGetPhysicalDeviceProperties2,
        vkGetPhysicalDeviceExternalBufferProperties: vk::PFN_vkGetPhysicalDeviceExternalBufferProperties,
        vkGetPhysicalDeviceToolProperties: vk::PFN_vkGetPhysicalDeviceToolProperties,
        vkGetPhysicalDeviceToolPropertiesEXT: vk::PFN_vkGetPhysicalDeviceToolProperties,
        vkCreateDebugUtilsMessengerEXT: vk::PFN_vkCreateDebugUtilsMessengerEXT,
        vkDestroyDebugUtilsMessengerEXT: vk::PFN_vkDestroyDebugUtilsMessengerEXT,
    }
}

impl InstanceTable {
    /// `vkGetPhysicalDeviceFeatures2` by either name.
    pub fn features2(&self) -> Option<vk::PFN_vkGetPhysicalDeviceFeatures2> {
        self.vkGetPhysicalDeviceFeatures2
            .or(self.vkGetPhysicalDeviceFeatures2KHR)
    }

    /// `vkGetPhysicalDeviceProperties2` by either name.
    pub fn properties2(&self) -> Option<vk::PFN_vkGetPhysicalDeviceProperties2> {
        self.vkGetPhysicalDeviceProperties2
            .or(self.vkGetPhysicalDeviceProperties2KHR)
    }
}

next_table! {
    /// Device functions that the layer calls or forwards to. `intercept::table` has an entry for each that it forwards to.
    DeviceTable {
        vkDestroyDevice: vk::PFN_vkDestroyDevice,
        vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle,
        vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue,
        vkGetDeviceQueue2: vk::PFN_vkGetDeviceQueue2,
        vkQueueSubmit: vk::PFN_vkQueueSubmit,
        vkQueueSubmit2: vk::PFN_vkQueueSubmit2,
        vkQueueSubmit2KHR: vk::PFN_vkQueueSubmit2,
        vkQueueBindSparse: vk::PFN_vkQueueBindSparse,
        vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle,
        vkQueuePresentKHR: vk::PFN_vkQueuePresentKHR,
        vkQueueSetPerfHintQCOM: vk_ext::QueueSetPerfHint,
        vkCreateFence: vk::PFN_vkCreateFence,
        vkDestroyFence: vk::PFN_vkDestroyFence,
        vkResetFences: vk::PFN_vkResetFences,
        vkGetFenceStatus: vk::PFN_vkGetFenceStatus,
        vkWaitForFences: vk::PFN_vkWaitForFences,
        vkGetSemaphoreCounterValue: vk::PFN_vkGetSemaphoreCounterValue,
        vkGetSemaphoreCounterValueKHR: vk::PFN_vkGetSemaphoreCounterValue,
        vkWaitSemaphores: vk::PFN_vkWaitSemaphores,
        vkWaitSemaphoresKHR: vk::PFN_vkWaitSemaphores,
        vkGetEventStatus: vk::PFN_vkGetEventStatus,
        vkGetQueryPoolResults: vk::PFN_vkGetQueryPoolResults,
        vkCreateSwapchainKHR: vk::PFN_vkCreateSwapchainKHR,
        vkCreateSharedSwapchainsKHR: vk::PFN_vkCreateSharedSwapchainsKHR,
        vkAcquireNextImageKHR: vk::PFN_vkAcquireNextImageKHR,
        vkAcquireNextImage2KHR: vk::PFN_vkAcquireNextImage2KHR,
        vkGetSwapchainStatusKHR: vk::PFN_vkGetSwapchainStatusKHR,
        vkGetSwapchainCounterEXT: vk::PFN_vkGetSwapchainCounterEXT,
        vkWaitForPresentKHR: vk::PFN_vkWaitForPresentKHR,
        vkWaitForPresent2KHR: vk_ext::WaitForPresent2,
        vkGetRefreshCycleDurationGOOGLE: vk::PFN_vkGetRefreshCycleDurationGOOGLE,
        vkGetPastPresentationTimingGOOGLE: vk::PFN_vkGetPastPresentationTimingGOOGLE,
        vkGetPastPresentationTimingEXT: vk_ext::GetPastPresentationTiming,
        vkCreateShaderModule: vk::PFN_vkCreateShaderModule,
        vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule,
        vkGetShaderModuleIdentifierEXT: vk::PFN_vkGetShaderModuleIdentifierEXT,
        vkGetShaderModuleCreateInfoIdentifierEXT: vk::PFN_vkGetShaderModuleCreateInfoIdentifierEXT,
        vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines,
        vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines,
        vkCreateRayTracingPipelinesKHR: vk::PFN_vkCreateRayTracingPipelinesKHR,
        vkCreateRayTracingPipelinesNV: vk::PFN_vkCreateRayTracingPipelinesNV,
        vkGetPipelineKeyKHR: vk_ext::GetPipelineKey,
        vkCreatePipelineBinariesKHR: vk_ext::CreatePipelineBinaries,
        vkGetPipelineIndirectMemoryRequirementsNV: vk::PFN_vkGetPipelineIndirectMemoryRequirementsNV,
        vkCreateShadersEXT: vk::PFN_vkCreateShadersEXT,
        vkGetShaderBinaryDataEXT: vk::PFN_vkGetShaderBinaryDataEXT,
        vkDeferredOperationJoinKHR: vk::PFN_vkDeferredOperationJoinKHR,
        vkGetDeferredOperationResultKHR: vk::PFN_vkGetDeferredOperationResultKHR,
        vkDestroyDeferredOperationKHR: vk::PFN_vkDestroyDeferredOperationKHR,
        vkSetDebugUtilsObjectNameEXT: vk::PFN_vkSetDebugUtilsObjectNameEXT,
        vkQueueBeginDebugUtilsLabelEXT: vk::PFN_vkQueueBeginDebugUtilsLabelEXT,
        vkQueueEndDebugUtilsLabelEXT: vk::PFN_vkQueueEndDebugUtilsLabelEXT,
        vkQueueInsertDebugUtilsLabelEXT: vk::PFN_vkQueueInsertDebugUtilsLabelEXT,
        vkGetDeviceFaultReportsKHR: vk_ext::GetDeviceFaultReports,
        vkGetDeviceFaultDebugInfoKHR: vk_ext::GetDeviceFaultDebugInfo,
        vkGetDeviceFaultInfoEXT: vk::PFN_vkGetDeviceFaultInfoEXT,
        vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer,
        vkResetCommandBuffer: vk::PFN_vkResetCommandBuffer,
        vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers,
        vkFreeCommandBuffers: vk::PFN_vkFreeCommandBuffers,
        vkFreeDescriptorSets: vk::PFN_vkFreeDescriptorSets,
        vkResetCommandPool: vk::PFN_vkResetCommandPool,
        vkResetDescriptorPool: vk::PFN_vkResetDescriptorPool,
        vkCreateBuffer: vk::PFN_vkCreateBuffer,
        vkDestroyBuffer: vk::PFN_vkDestroyBuffer,
        vkGetBufferMemoryRequirements: vk::PFN_vkGetBufferMemoryRequirements,
        vkBindBufferMemory: vk::PFN_vkBindBufferMemory,
        vkAllocateMemory: vk::PFN_vkAllocateMemory,
        vkFreeMemory: vk::PFN_vkFreeMemory,
        vkMapMemory: vk::PFN_vkMapMemory,
        vkGetBufferDeviceAddress: vk::PFN_vkGetBufferDeviceAddress,
        vkGetBufferDeviceAddressKHR: vk::PFN_vkGetBufferDeviceAddress,
        vkGetBufferDeviceAddressEXT: vk::PFN_vkGetBufferDeviceAddress,
        vkGetBufferOpaqueCaptureAddress: vk::PFN_vkGetBufferOpaqueCaptureAddress,
        vkGetBufferOpaqueCaptureAddressKHR: vk::PFN_vkGetBufferOpaqueCaptureAddress,
        vkGetDeviceMemoryOpaqueCaptureAddress: vk::PFN_vkGetDeviceMemoryOpaqueCaptureAddress,
        vkGetDeviceMemoryOpaqueCaptureAddressKHR: vk::PFN_vkGetDeviceMemoryOpaqueCaptureAddress,
        vkGetMemoryHostPointerPropertiesEXT: vk::PFN_vkGetMemoryHostPointerPropertiesEXT,
    }
}

/// A function that destroys or frees one object. All share this shape, since non-dispatchable handles are 64 bits wide.
pub type PfnDestroy =
    unsafe extern "system" fn(device: vk::Device, object: u64, allocator: *const vk::AllocationCallbacks<'_>);

/// Passes the names of all functions that destroy or free one object, and that need no code of their own, to `$with`:
/// for [`DestroyTable`] and for the intercepts.
macro_rules! destroy_commands {
    ($with:ident) => {
        $with! {
            vkDestroyAccelerationStructureKHR vkDestroyAccelerationStructureNV vkDestroyBuffer vkDestroyBufferView
            vkDestroyCommandPool vkDestroyCuFunctionNVX vkDestroyCuModuleNVX vkDestroyCudaFunctionNV vkDestroyCudaModuleNV
            vkDestroyDataGraphPipelineSessionARM vkDestroyDescriptorPool vkDestroyDescriptorSetLayout
            vkDestroyDescriptorUpdateTemplate vkDestroyDescriptorUpdateTemplateKHR vkDestroyEvent vkDestroyGpaSessionAMD vkDestroyShaderInstrumentationARM
            vkDestroyBufferCollectionFUCHSIA vkDestroyFence vkDestroyFramebuffer vkDestroyImage vkDestroyImageView
            vkDestroyIndirectCommandsLayoutEXT vkDestroyIndirectCommandsLayoutNV vkDestroyIndirectExecutionSetEXT
            vkDestroyMicromapEXT vkDestroyOpticalFlowSessionNV vkDestroyPipeline vkDestroyPipelineBinaryKHR
            vkDestroyPipelineCache vkDestroyPipelineLayout vkDestroyPrivateDataSlot vkDestroyPrivateDataSlotEXT
            vkDestroyQueryPool vkDestroyRenderPass vkDestroySampler vkDestroySamplerYcbcrConversion
            vkDestroySamplerYcbcrConversionKHR vkDestroySemaphore vkDestroyShaderEXT vkDestroySwapchainKHR vkDestroyTensorARM
            vkDestroyTensorViewARM vkDestroyValidationCacheEXT vkDestroyVideoSessionKHR vkDestroyVideoSessionParametersKHR
            vkFreeMemory
        }
    };
}
pub(crate) use destroy_commands;

macro_rules! destroy_table {
    ($($function:ident)*) => {
        next_table! {
            /// Functions that destroy or free one object.
            DestroyTable { $($function: PfnDestroy,)* }
        }
    };
}
destroy_commands!(destroy_table);
