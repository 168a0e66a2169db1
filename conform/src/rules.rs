//! The sentences of the specifications that the checks test, shortened where they are long.

/// A sentence of a specification.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The document and its section or command.
    pub section: &'static str,
    /// The sentence.
    pub sentence: &'static str,
}

const fn rule(section: &'static str, sentence: &'static str) -> Rule {
    Rule { section, sentence }
}

pub const DEPENDENCIES: Rule = rule(
    "Vulkan registry, VK_KHR_shader_abort",
    "depends on VK_KHR_device_fault and VK_KHR_shader_constant_data, and those on Vulkan 1.1 or \
     VK_KHR_get_physical_device_properties2",
);
pub const EXTENSION_LIST: Rule = rule(
    "Vulkan, Extended Functionality, VkExtensionProperties",
    "extensionName is the name of the extension, and specVersion is its version, incremented with backward compatible \
     changes",
);
pub const ENUMERATE: Rule = rule(
    "Vulkan, vkEnumerateDeviceExtensionProperties",
    "If pPropertyCount is less than the number of extension properties available, at most pPropertyCount structures \
     will be written, and VK_INCOMPLETE will be returned instead of VK_SUCCESS",
);
pub const FEATURES: Rule = rule(
    "Vulkan, Feature Requirements",
    "shaderAbort, deviceFault and shaderConstantData must be supported if the extension that has it is",
);
pub const ALIAS: Rule = rule(
    "Vulkan registry, VK_KHR_get_physical_device_properties2",
    "vkGetPhysicalDeviceFeatures2KHR and vkGetPhysicalDeviceProperties2KHR are aliases of the commands without suffix",
);
pub const CHAIN: Rule = rule(
    "Vulkan, Fundamentals, Valid Usage for Structure Pointer Chains",
    "structures may be chained in any order, and those that an implementation does not support are skipped",
);
pub const MESSAGE_SIZE_LIMIT: Rule = rule(
    "VK_KHR_shader_abort proposal, Properties",
    "maxShaderAbortMessageSize indicates the maximum allowed size of a single abort message, and must be at least \
     65536 bytes",
);
pub const FAULT_COUNT_LIMIT: Rule = rule(
    "VK_KHR_device_fault proposal, Limits",
    "maxDeviceFaultCount must be greater than or equal to 1",
);
pub const PROC_ADDR: Rule = rule(
    "Vulkan, vkGetDeviceProcAddr",
    "returns a function pointer for device-level commands of enabled extensions, and NULL for those of other extensions",
);
pub const FEATURE_OFF: Rule = rule(
    "Vulkan, Features",
    "features that are not enabled at device creation are not used, and that is always possible",
);
pub const CEASES: Rule = rule(
    "SPV_KHR_abort, OpAbortKHR",
    "Ceases all further processing in the invocation that executes it",
);
pub const BEFORE: Rule = rule(
    "SPV_KHR_abort, OpAbortKHR",
    "Only instructions executed before OpAbortKHR will have side effects",
);
pub const OTHERS_END: Rule = rule(
    "SPV_KHR_abort, OpAbortKHR",
    "Other invocations in the same Device scope instance will also be terminated in finite time, though may reach \
     completion",
);
pub const LOSES: Rule = rule(
    "VK_KHR_shader_abort proposal, SPIR-V changes",
    "Execution of OpAbortKHR will trigger device loss in the API within finite time, making the data in Message \
     available via vkGetDeviceFaultDebugInfoKHR",
);
pub const NOT_TAKEN: Rule = rule(
    "VK_KHR_shader_abort proposal, SPIR-V changes",
    "Execution of OpAbortKHR triggers device loss: a shader that does not execute it runs as without it",
);
pub const WAITS_END: Rule = rule(
    "Vulkan, Lost Device",
    "Commands that wait indefinitely for device execution must return in finite time even in the case of a lost \
     device, and return either VK_SUCCESS or VK_ERROR_DEVICE_LOST",
);
pub const STICKY: Rule = rule(
    "Vulkan, Lost Device",
    "any device command that happens-after one that returned VK_ERROR_DEVICE_LOST must return it too where it is a \
     valid return value (maintenance5); it is not possible to reset the logical device to a non-lost state",
);
pub const HANDLES: Rule = rule(
    "Vulkan, Lost Device",
    "child objects are not implicitly destroyed and their handles are still valid; they must still be destroyed before \
     the device",
);
pub const SPECIFIC: Rule = rule(
    "Vulkan, Lost Device",
    "the lost state is specific to a logical device, and the corresponding physical device may be otherwise unaffected",
);
pub const NEW_DEVICE: Rule = rule(
    "Vulkan, Lost Device",
    "If a new logical device is successfully created from that physical device, it must be in the non-lost state",
);
pub const PAYLOAD: Rule = rule(
    "Vulkan, VkDeviceFaultShaderAbortMessageInfoKHR",
    "The data in payload is laid out in the exact manner specified in the OpAbortKHR instruction by the message type, \
     with no modifications",
);
pub const PAIRS: Rule = rule(
    "Vulkan, VkDeviceFaultShaderAbortMessageInfoKHR",
    "pMessageData is populated with a series of (size,payload) pairs, each aligned to 8-byte boundaries",
);
pub const FIRST: Rule = rule(
    "Vulkan, VkDeviceFaultShaderAbortMessageInfoKHR",
    "Implementations must report the message reported by the first OpAbortKHR instruction executed in an invocation \
     for this device",
);
pub const SIZING: Rule = rule(
    "Vulkan, VkDeviceFaultShaderAbortMessageInfoKHR",
    "If pMessageData is NULL then messageDataSize will be populated with the required size",
);
pub const ROOM: Rule = rule(
    "Vulkan, VkDeviceFaultShaderAbortMessageInfoKHR",
    "pMessageData is NULL or a pointer to messageDataSize bytes of data, which will be populated with data for messages",
);
pub const VENDOR_BINARY: Rule = rule(
    "Vulkan, vkGetDeviceFaultDebugInfoKHR",
    "If the vendor-specific crash dumps feature is not enabled, then implementations must set vendorBinarySize to zero \
     and must not modify pVendorBinaryData",
);
pub const NOT_LOST: Rule = rule(
    "Vulkan, VUID-vkGetDeviceFaultDebugInfoKHR-device-12383",
    "device must be lost: a program that asks too early should get nothing and not be harmed",
);
pub const NO_REPORTS: Rule = rule(
    "Vulkan, vkGetDeviceFaultReportsKHR",
    "If timeout is zero, it does not wait; VK_TIMEOUT will be returned in this case if no faults have occurred",
);
pub const REPORT_TIMEOUT: Rule = rule(
    "Vulkan, vkGetDeviceFaultReportsKHR",
    "will block and wait until a fault occurs and a report becomes available or until the timeout has expired, \
     whichever is sooner",
);
pub const REPORT_ONCE: Rule = rule(
    "Vulkan, vkGetDeviceFaultReportsKHR",
    "Each individual fault report is returned exactly once",
);
pub const REPORT_UNIQUE: Rule = rule(
    "Vulkan, vkGetDeviceFaultReportsKHR",
    "may be invoked in parallel on different threads, in which case each invocation will return a unique set of reports",
);
pub const REPORT_ROOM: Rule = rule(
    "Vulkan, vkGetDeviceFaultReportsKHR",
    "If pFaultCount is less than the number of fault reports available, at most pFaultCount structures will be \
     written, and VK_INCOMPLETE will be returned instead of VK_SUCCESS",
);
pub const REPORT_LAST: Rule = rule(
    "Vulkan, VkDeviceFaultFlagBitsKHR",
    "VK_DEVICE_FAULT_FLAG_DEVICE_LOST_KHR specifies that the fault has resulted in a device lost condition. No \
     subsequent entries will be returned for this device",
);
pub const DESCRIPTION: Rule = rule(
    "Vulkan, VkDeviceFaultInfoKHR",
    "description contains a null-terminated UTF-8 string which is a human readable description of the fault",
);
pub const DATA: Rule = rule(
    "SPV_KHR_constant_data, OpConstantDataKHR",
    "Data is the bit pattern for the constant, packed with no padding between elements",
);
pub const SPEC_DATA: Rule = rule(
    "SPV_KHR_constant_data, OpSpecConstantDataKHR",
    "The amount of data provided via specialization can vary from the amount of data originally in the shader, as long \
     as the Length parameter of Result Type is specialized to the size of the specialized Data",
);
pub const CACHE: Rule = rule(
    "VK_KHR_shader_abort proposal, Interactions with pipeline caching/shader binaries",
    "Implementations must either pass such pointers indirectly or allocate a consistent pointer between runs to avoid \
     always resulting in a different binary",
);
