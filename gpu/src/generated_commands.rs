//! Declarations of `VK_EXT_device_generated_commands`, which ash 0.38 lacks, as far as the cases use it.

use crate::Device;
use anyhow::Result;
use ash::vk;
use std::ffi::{CStr, c_void};
use std::mem::transmute;

/// `VK_EXT_DEVICE_GENERATED_COMMANDS_EXTENSION_NAME`.
pub const NAME: &CStr = c"VK_EXT_device_generated_commands";
/// `VK_PIPELINE_CREATE_2_INDIRECT_BINDABLE_BIT_EXT`.
pub const INDIRECT_BINDABLE: vk::PipelineCreateFlags2KHR = vk::PipelineCreateFlags2KHR::from_raw(1 << 38);
/// `VK_BUFFER_USAGE_2_PREPROCESS_BUFFER_BIT_EXT`.
pub const PREPROCESS_BUFFER: vk::BufferUsageFlags2KHR = vk::BufferUsageFlags2KHR::from_raw(1 << 31);
/// `VK_INDIRECT_COMMANDS_TOKEN_TYPE_EXECUTION_SET_EXT`.
pub const EXECUTION_SET: u32 = 0;
/// `VK_INDIRECT_COMMANDS_TOKEN_TYPE_DISPATCH_EXT`.
pub const DISPATCH: u32 = 9;

/// A structure without its first two members.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Tagged<T> {
    s_type: i32,
    p_next: *mut c_void,
    /// The other members.
    pub data: T,
}

impl<T> Tagged<T> {
    /// A structure of the extension with this number.
    pub const fn new(number: i32, data: T) -> Self {
        Self {
            s_type: 1_000_572_000 + number,
            p_next: std::ptr::null_mut(),
            data,
        }
    }
}

/// `VkPhysicalDeviceDeviceGeneratedCommandsFeaturesEXT`: `deviceGeneratedCommands`, `dynamicGeneratedPipelineLayout`.
pub type Features = Tagged<[vk::Bool32; 2]>;

// SAFETY: the structure starts with `sType` and `pNext`, and STRUCTURE_TYPE is its number in the registry.
unsafe impl vk::TaggedStructure for Features {
    const STRUCTURE_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_572_000);
}
// SAFETY: the registry lists the base in this structure's `structextends`.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Features {}
// SAFETY: the registry lists this base too in the structure's `structextends`.
unsafe impl vk::ExtendsDeviceCreateInfo for Features {}

/// `VkIndirectExecutionSetPipelineInfoEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SetPipelines {
    /// The first pipeline.
    pub initial: vk::Pipeline,
    /// Room of the set.
    pub max_count: u32,
}

/// `VkIndirectExecutionSetCreateInfoEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SetInfo {
    /// 0: pipelines.
    pub kind: u32,
    /// The pipelines.
    pub pipelines: *const Tagged<SetPipelines>,
}

/// `VkIndirectCommandsExecutionSetTokenEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SetToken {
    /// 0: pipelines.
    pub kind: u32,
    /// Stages of the pipelines.
    pub stages: vk::ShaderStageFlags,
}

/// `VkIndirectCommandsLayoutTokenEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Type of the token.
    pub kind: u32,
    /// Null for tokens without data.
    pub set: *const SetToken,
    /// Offset in a sequence in bytes.
    pub offset: u32,
}

/// `VkIndirectCommandsLayoutCreateInfoEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LayoutInfo {
    /// Usage flags.
    pub flags: u32,
    /// Stages of the pipelines.
    pub stages: vk::ShaderStageFlags,
    /// Bytes of a sequence.
    pub stride: u32,
    /// Pipeline layout.
    pub layout: vk::PipelineLayout,
    /// Number of tokens.
    pub token_count: u32,
    /// The tokens of a sequence.
    pub tokens: *const Tagged<Token>,
}

/// `VkGeneratedCommandsMemoryRequirementsInfoEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryInfo {
    /// The execution set.
    pub set: u64,
    /// The commands' layout.
    pub layout: u64,
    /// Sequences at most.
    pub max_sequences: u32,
    /// Draws at most.
    pub max_draws: u32,
}

/// `VkGeneratedCommandsInfoEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GeneratedInfo {
    /// Stages of the pipelines.
    pub stages: vk::ShaderStageFlags,
    /// The execution set.
    pub set: u64,
    /// The commands' layout.
    pub layout: u64,
    /// Address of the sequences.
    pub address: u64,
    /// Size of the sequences in bytes.
    pub size: u64,
    /// Address of the driver's buffer.
    pub preprocess_address: u64,
    /// Size of the driver's buffer in bytes.
    pub preprocess_size: u64,
    /// Number of sequences.
    pub max_sequences: u32,
    /// Address of the number of sequences, or 0.
    pub count_address: u64,
    /// Draws at most.
    pub max_draws: u32,
}

/// `VkWriteIndirectExecutionSetPipelineEXT`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SetWrite {
    /// Index in the set.
    pub index: u32,
    /// The pipeline.
    pub pipeline: vk::Pipeline,
}

type Create<I> =
    unsafe extern "system" fn(vk::Device, *const Tagged<I>, *const vk::AllocationCallbacks<'_>, *mut u64) -> vk::Result;
type Destroy = unsafe extern "system" fn(vk::Device, u64, *const vk::AllocationCallbacks<'_>);
type GetMemory = unsafe extern "system" fn(vk::Device, *const Tagged<MemoryInfo>, *mut vk::MemoryRequirements2<'_>);
type Update = unsafe extern "system" fn(vk::Device, u64, u32, *const Tagged<SetWrite>);
type Execute = unsafe extern "system" fn(vk::CommandBuffer, vk::Bool32, *const Tagged<GeneratedInfo>);

/// The extension's commands.
#[allow(missing_docs, reason = "named as the commands")]
pub struct Commands {
    pub memory_requirements: GetMemory,
    pub create_layout: Create<LayoutInfo>,
    pub destroy_layout: Destroy,
    pub create_set: Create<SetInfo>,
    pub destroy_set: Destroy,
    pub update_set: Update,
    pub execute: Execute,
}

impl Commands {
    /// Looks up the commands.
    ///
    /// # Errors
    ///
    /// The device was created without the extension.
    pub fn load(device: &Device<'_>) -> Result<Self> {
        type Any = unsafe extern "system" fn();
        let get = |name| device.command(name);
        // SAFETY: the registry declares the commands with these types.
        unsafe {
            Ok(Self {
                memory_requirements: transmute::<Any, GetMemory>(get(c"vkGetGeneratedCommandsMemoryRequirementsEXT")?),
                create_layout: transmute::<Any, Create<LayoutInfo>>(get(c"vkCreateIndirectCommandsLayoutEXT")?),
                destroy_layout: transmute::<Any, Destroy>(get(c"vkDestroyIndirectCommandsLayoutEXT")?),
                create_set: transmute::<Any, Create<SetInfo>>(get(c"vkCreateIndirectExecutionSetEXT")?),
                destroy_set: transmute::<Any, Destroy>(get(c"vkDestroyIndirectExecutionSetEXT")?),
                update_set: transmute::<Any, Update>(get(c"vkUpdateIndirectExecutionSetPipelineEXT")?),
                execute: transmute::<Any, Execute>(get(c"vkCmdExecuteGeneratedCommandsEXT")?),
            })
        }
    }
}
