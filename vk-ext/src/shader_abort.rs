//! `VK_KHR_shader_abort` and `VK_KHR_shader_constant_data`.

use crate::tagged;
use ash::vk;
use std::ffi::c_void;

tagged! {
    /// `VkPhysicalDeviceShaderAbortFeaturesKHR`.
    ShaderAbortFeatures = 1_000_233_000, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo], 24 bytes {
        /// Shaders may execute `OpAbortKHR`.
        shader_abort: vk::Bool32,
    }
}
tagged! {
    /// `VkPhysicalDeviceShaderConstantDataFeaturesKHR`.
    ShaderConstantDataFeatures = 1_000_231_000, extends [ExtendsPhysicalDeviceFeatures2, ExtendsDeviceCreateInfo], 24 bytes {
        /// Shaders may use `OpConstantDataKHR`.
        shader_constant_data: vk::Bool32,
    }
}
tagged! {
    /// `VkPhysicalDeviceShaderAbortPropertiesKHR`.
    ShaderAbortProperties = 1_000_233_002, extends [ExtendsPhysicalDeviceProperties2], 24 bytes {
        /// Largest message in bytes.
        max_shader_abort_message_size: u64,
    }
}
tagged! {
    /// `VkDeviceFaultShaderAbortMessageInfoKHR`.
    ShaderAbortMessageInfo = 1_000_233_001, extends [], 32 bytes {
        /// Bytes at `p_message_data`. On return, bytes written, or bytes available if that is null.
        message_data_size: u64,
        /// Null to query the size.
        p_message_data: *mut c_void,
    }
}

impl ShaderAbortFeatures {
    /// `shaderAbort` on or off.
    pub fn new(enabled: bool) -> Self {
        Self {
            shader_abort: vk::Bool32::from(enabled),
            ..Self::default()
        }
    }
}

impl ShaderConstantDataFeatures {
    /// `shaderConstantData` on or off.
    pub fn new(enabled: bool) -> Self {
        Self {
            shader_constant_data: vk::Bool32::from(enabled),
            ..Self::default()
        }
    }
}

impl ShaderAbortMessageInfo {
    /// A query for the size of the message data.
    pub fn sizing() -> Self {
        Self::default()
    }

    /// A query for the message data itself. `buffer` must outlive the calls that use the query.
    pub fn filling(buffer: &mut [u8]) -> Self {
        Self {
            message_data_size: buffer.len() as u64,
            p_message_data: buffer.as_mut_ptr().cast(),
            ..Self::default()
        }
    }
}
