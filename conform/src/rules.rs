//! The sentences of the specifications that the checks test, shortened where they are long.

use vkabort_runner::Rule;

/// Declares the rules of each section.
macro_rules! rules {
    ($($section:literal { $($name:ident: $sentence:literal)+ })+) => {
        $($(pub const $name: Rule = Rule { section: $section, sentence: $sentence };)+)+
    };
}

rules! {
    "Vulkan registry, VK_KHR_shader_abort" {
        DEPENDENCIES: "depends on VK_KHR_device_fault and VK_KHR_shader_constant_data, and those on Vulkan 1.1 or \
         VK_KHR_get_physical_device_properties2"
    }
    "Vulkan, Extended Functionality, VkExtensionProperties" {
        EXTENSION_LIST: "extensionName is the name of the extension, and specVersion is its version, incremented with \
         backward compatible changes"
    }
    "Vulkan, vkEnumerateDeviceExtensionProperties" {
        ENUMERATE: "If pPropertyCount is less than the number of extension properties available, at most \
         pPropertyCount structures will be written, and VK_INCOMPLETE will be returned instead of VK_SUCCESS"
    }
    "Vulkan, Feature Requirements" {
        FEATURES: "shaderAbort, deviceFault and shaderConstantData must be supported if the extension that has it is"
    }
    "Vulkan registry, VK_KHR_get_physical_device_properties2" {
        ALIAS: "vkGetPhysicalDeviceFeatures2KHR and vkGetPhysicalDeviceProperties2KHR are aliases of the commands \
         without suffix"
    }
    "Vulkan, Fundamentals, Valid Usage for Structure Pointer Chains" {
        CHAIN: "structures may be chained in any order, and those that an implementation does not support are skipped"
    }
    "VK_KHR_shader_abort proposal, Properties" {
        MESSAGE_SIZE_LIMIT: "maxShaderAbortMessageSize indicates the maximum allowed size of a single abort message, \
         and must be at least 65536 bytes"
    }
    "VK_KHR_device_fault proposal, Limits" {
        FAULT_COUNT_LIMIT: "maxDeviceFaultCount must be greater than or equal to 1"
    }
    "Vulkan, vkGetDeviceProcAddr" {
        PROC_ADDR: "returns a function pointer for device-level commands of enabled extensions, and NULL for those of \
         other extensions"
    }
    "Vulkan, Features" {
        FEATURE_OFF: "features that are not enabled at device creation are not used, and that is always possible"
    }
    "SPV_KHR_abort, OpAbortKHR" {
        CEASES: "Ceases all further processing in the invocation that executes it"
        BEFORE: "Only instructions executed before OpAbortKHR will have side effects"
        OTHERS_END: "Other invocations in the same Device scope instance will also be terminated in finite time, \
         though may reach completion"
    }
    "VK_KHR_shader_abort proposal, SPIR-V changes" {
        LOSES: "Execution of OpAbortKHR will trigger device loss in the API within finite time, making the data in \
         Message available via vkGetDeviceFaultDebugInfoKHR"
        NOT_TAKEN: "Execution of OpAbortKHR triggers device loss: a shader that does not execute it runs as without it"
    }
    "Vulkan, Lost Device" {
        WAITS_END: "Commands that wait indefinitely for device execution must return in finite time even in the case \
         of a lost device, and return either VK_SUCCESS or VK_ERROR_DEVICE_LOST"
        STICKY: "any device command that happens-after one that returned VK_ERROR_DEVICE_LOST must return it too where \
         it is a valid return value (maintenance5); it is not possible to reset the logical device to a non-lost state"
        HANDLES: "child objects are not implicitly destroyed and their handles are still valid; they must still be \
         destroyed before the device"
        SPECIFIC: "the lost state is specific to a logical device, and the corresponding physical device may be \
         otherwise unaffected"
        NEW_DEVICE: "If a new logical device is successfully created from that physical device, it must be in the \
         non-lost state"
    }
    "Vulkan, VkDeviceFaultShaderAbortMessageInfoKHR" {
        PAYLOAD: "The data in payload is laid out in the exact manner specified in the OpAbortKHR instruction by the \
         message type, with no modifications"
        PAIRS: "pMessageData is populated with a series of (size,payload) pairs, each aligned to 8-byte boundaries"
        FIRST: "Implementations must report the message reported by the first OpAbortKHR instruction executed in an \
         invocation for this device"
        SIZING: "If pMessageData is NULL then messageDataSize will be populated with the required size"
        ROOM: "pMessageData is NULL or a pointer to messageDataSize bytes of data, which will be populated with data \
         for messages"
    }
    "Vulkan, vkGetDeviceFaultDebugInfoKHR" {
        VENDOR_BINARY: "If the vendor-specific crash dumps feature is not enabled, then implementations must set \
         vendorBinarySize to zero and must not modify pVendorBinaryData"
    }
    "Vulkan, VUID-vkGetDeviceFaultDebugInfoKHR-device-12383" {
        NOT_LOST: "device must be lost: a program that asks too early should get nothing and not be harmed"
    }
    "Vulkan, vkGetDeviceFaultReportsKHR" {
        NO_REPORTS: "If timeout is zero, it does not wait; VK_TIMEOUT will be returned in this case if no faults have \
         occurred"
        REPORT_AT_ONCE: "If at least one fault report is available when vkGetDeviceFaultReportsKHR is called, then it \
         returns immediately. If timeout is zero, it does not wait, but simply returns the current fault count and reports"
        REPORT_TIMEOUT: "will block and wait until a fault occurs and a report becomes available or until the timeout \
         has expired, whichever is sooner"
        REPORT_ONCE: "Each individual fault report is returned exactly once"
        REPORT_UNIQUE: "may be invoked in parallel on different threads, in which case each invocation will return a \
         unique set of reports"
        REPORT_ROOM: "If pFaultCount is less than the number of fault reports available, at most pFaultCount \
         structures will be written, and VK_INCOMPLETE will be returned instead of VK_SUCCESS"
    }
    "Vulkan, VkDeviceFaultFlagBitsKHR" {
        REPORT_LAST: "VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR specifies that the fault has resulted in a device lost \
         condition. No subsequent entries will be returned for this device"
    }
    "Vulkan, VkDeviceFaultInfoKHR" {
        DESCRIPTION: "description contains a null-terminated UTF-8 string which is a human readable description of the \
         fault"
    }
    "SPV_KHR_constant_data, OpConstantDataKHR" {
        DATA: "Data is the bit pattern for the constant, packed with no padding between elements"
    }
    "SPV_KHR_constant_data, OpSpecConstantDataKHR" {
        SPEC_DATA: "The amount of data provided via specialization can vary from the amount of data originally in the \
         shader, as long as the Length parameter of Result Type is specialized to the size of the specialized Data"
    }
    "VK_KHR_shader_abort proposal, Interactions with pipeline caching/shader binaries" {
        CACHE: "Implementations must either pass such pointers indirectly or allocate a consistent pointer between \
         runs to avoid always resulting in a different binary"
    }
}
