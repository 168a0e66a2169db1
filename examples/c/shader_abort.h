/* Declarations of VK_KHR_shader_abort, VK_KHR_shader_constant_data and VK_KHR_device_fault for Vulkan headers older than
 * 1.4.347, which lack them. Only what main.c uses. */
#ifndef SHADER_ABORT_H
#define SHADER_ABORT_H

#include <vulkan/vulkan.h>

#ifndef VK_KHR_shader_abort
#define VK_KHR_SHADER_ABORT_EXTENSION_NAME "VK_KHR_shader_abort"
#define VK_KHR_DEVICE_FAULT_EXTENSION_NAME "VK_KHR_device_fault"
#define VK_KHR_SHADER_CONSTANT_DATA_EXTENSION_NAME "VK_KHR_shader_constant_data"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CONSTANT_DATA_FEATURES_KHR ((VkStructureType)1000231000)
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ABORT_FEATURES_KHR ((VkStructureType)1000233000)
#define VK_STRUCTURE_TYPE_DEVICE_FAULT_SHADER_ABORT_MESSAGE_INFO_KHR ((VkStructureType)1000233001)
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_KHR ((VkStructureType)1000573000)
#define VK_STRUCTURE_TYPE_DEVICE_FAULT_DEBUG_INFO_KHR ((VkStructureType)1000573003)

typedef struct VkPhysicalDeviceShaderConstantDataFeaturesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderConstantData;
} VkPhysicalDeviceShaderConstantDataFeaturesKHR;

typedef struct VkPhysicalDeviceShaderAbortFeaturesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderAbort;
} VkPhysicalDeviceShaderAbortFeaturesKHR;

typedef struct VkPhysicalDeviceFaultFeaturesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 deviceFault;
    VkBool32 deviceFaultVendorBinary;
    VkBool32 deviceFaultReportMasked;
    VkBool32 deviceFaultDeviceLostOnMasked;
} VkPhysicalDeviceFaultFeaturesKHR;

typedef struct VkDeviceFaultShaderAbortMessageInfoKHR {
    VkStructureType sType;
    void *pNext;
    uint64_t messageDataSize;
    void *pMessageData;
} VkDeviceFaultShaderAbortMessageInfoKHR;

typedef struct VkDeviceFaultDebugInfoKHR {
    VkStructureType sType;
    void *pNext;
    uint32_t vendorBinarySize;
    void *pVendorBinaryData;
} VkDeviceFaultDebugInfoKHR;

typedef VkResult(VKAPI_PTR *PFN_vkGetDeviceFaultDebugInfoKHR)(VkDevice device, VkDeviceFaultDebugInfoKHR *pDebugInfo);
#endif /* VK_KHR_shader_abort */

#endif /* SHADER_ABORT_H */
