//! Declarations for ash 0.38 of `VK_KHR_shader_abort`, `VK_KHR_device_fault` and `VK_KHR_shader_constant_data`, and of the
//! few newer structures and commands that the layer and its tests use.
//!
//! Member names follow ash: snake case, `p_` before pointers. The layouts are those of the C headers; each is asserted at
//! compile time.

mod device_fault;
mod fault_commands;
mod missing_in_ash;
mod shader_abort;

pub use device_fault::{
    FaultDebugInfo, FaultFeatures, FaultInfo, FaultProperties, GetDeviceFaultDebugInfo, GetDeviceFaultReports,
    fault_flags,
};
pub use fault_commands::FaultCommands;
pub use missing_in_ash::{
    CAPTURE_DATA, CmdDispatchGraph, CmdDispatchGraphIndirectCount, CmdDrawIndirectByteCount2,
    CmdExecuteGeneratedCommands, CmdWithInfo, CreatePipelineBinaries, DESCRIPTOR_HEAP, DESCRIPTOR_HEAP_NAME,
    DescriptorHeapFeatures, DescriptorMapping, ERROR_NOT_ENOUGH_SPACE, GetPastPresentationTiming,
    GetPipelineBinaryData, GetPipelineKey, PIPELINE_BINARY_NAME, PipelineBinaryCreateInfo, PipelineBinaryDataInfo,
    PipelineBinaryFeatures, PipelineBinaryHandlesInfo, PipelineBinaryInfo, PipelineBinaryKey,
    PipelineBinaryKeysAndData, PipelineCreateInfo, PresentWait2Info, QueueSetPerfHint, ShaderDescriptorMappings,
    WaitForPresent2,
};
pub use shader_abort::{
    ShaderAbortFeatures, ShaderAbortMessageInfo, ShaderAbortProperties, ShaderConstantDataFeatures,
};

use std::ffi::CStr;

/// `VK_KHR_SHADER_ABORT_EXTENSION_NAME`.
pub const SHADER_ABORT_NAME: &CStr = c"VK_KHR_shader_abort";
/// `VK_KHR_DEVICE_FAULT_EXTENSION_NAME`.
pub const DEVICE_FAULT_NAME: &CStr = c"VK_KHR_device_fault";
/// `VK_KHR_SHADER_CONSTANT_DATA_EXTENSION_NAME`.
pub const SHADER_CONSTANT_DATA_NAME: &CStr = c"VK_KHR_shader_constant_data";
/// All three. A shader that aborts with a string needs them all.
pub const EXTENSION_NAMES: [&CStr; 3] = [SHADER_ABORT_NAME, DEVICE_FAULT_NAME, SHADER_CONSTANT_DATA_NAME];
/// Specification version of each of the three.
pub const SPEC_VERSION: u32 = 1;

/// Declares a structure that is chained through `pNext`: its `VkStructureType`, the structures that it extends, and its size
/// in bytes on 64-bit targets. All members start as zero or null.
macro_rules! tagged {
    ($(#[$doc:meta])* $name:ident = $number:literal, extends [$($base:ident),*], $bytes:literal bytes {
        $($(#[$field_doc:meta])* $field:ident: $ty:ty,)*
    }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// The type of this structure.
            pub s_type: ash::vk::StructureType,
            /// The next structure of the chain, or null.
            pub p_next: *mut std::ffi::c_void,
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        #[cfg(target_pointer_width = "64")]
        const _: () = assert!(size_of::<$name>() == $bytes);

        impl Default for $name {
            fn default() -> Self {
                Self {
                    s_type: <Self as ash::vk::TaggedStructure>::STRUCTURE_TYPE,
                    // SAFETY: all members are integers, raw pointers, handles or arrays of them, for which zero is valid.
                    ..unsafe { std::mem::zeroed() }
                }
            }
        }

        // SAFETY: the structure starts with `sType` and `pNext`, and STRUCTURE_TYPE is its number in the registry.
        unsafe impl ash::vk::TaggedStructure for $name {
            const STRUCTURE_TYPE: ash::vk::StructureType = ash::vk::StructureType::from_raw($number);
        }
        $(
            // SAFETY: the registry lists the base in this structure's `structextends`.
            unsafe impl ash::vk::$base for $name {}
        )*
    };
}
use tagged;
