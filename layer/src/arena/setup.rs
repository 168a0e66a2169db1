//! The inputs for creating an arena, and its errors.

use super::memory_type::MemoryPreference;
use super::parts::{Layout, PartSizes};
use crate::loader::dispatch::DeviceTable;
use crate::log::Log;
use ash::vk;

/// Usage of an arena's buffers.
pub const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw() | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// The function that returns buffer addresses on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressApi {
    #[default]
    /// Vulkan 1.2 or `VK_KHR_buffer_device_address`.
    Khr,
    /// `VK_EXT_buffer_device_address`: the application enabled it, and it excludes the other.
    Ext,
}

impl AddressApi {
    /// The function of the next layer.
    pub fn function(self, next: &DeviceTable) -> Option<vk::PFN_vkGetBufferDeviceAddress> {
        match self {
            Self::Khr => next.vkGetBufferDeviceAddress.or(next.vkGetBufferDeviceAddressKHR),
            Self::Ext => next.vkGetBufferDeviceAddressEXT,
        }
    }
}

/// The inputs for creating an arena.
#[derive(Clone, Copy)]
pub struct ArenaSetup<'a> {
    /// The new device.
    pub device: vk::Device,
    /// The next layer's functions.
    pub next: &'a DeviceTable,
    /// The driver runs on the CPU.
    pub cpu: bool,
    /// Identifies device and driver.
    pub identity: &'a str,
    /// The memory types of the physical device.
    pub memory_types: &'a vk::PhysicalDeviceMemoryProperties,
    /// The preferences for choosing among them.
    pub preference: MemoryPreference,
    /// Families of the device's queues.
    pub families: &'a [u32],
    /// Size of the arena in bytes.
    pub bytes: u32,
    /// Size of its other parts.
    pub parts: PartSizes,
    /// A separate control block is wanted. `Arena::create` sets it.
    pub separate_control: bool,
    /// Selects the function that returns buffer addresses.
    pub api: AddressApi,
    /// `bufferDeviceAddressCaptureReplay` is enabled.
    pub capture_replay: bool,
    /// `VK_EXT_external_memory_host` is enabled.
    pub import: bool,
    /// The process has no other device.
    pub only_device: bool,
    /// The layer's log.
    pub log: &'a Log,
}

impl ArenaSetup<'_> {
    /// The places of the parts, and the sizes of the buffers.
    pub fn layout(&self) -> Layout {
        self.parts.layout(self.bytes, self.separate_control)
    }
}

/// The reason why a buffer or an arena could not be created.
#[derive(Debug)]
pub struct CreateError {
    /// The driver's error; `VK_ERROR_UNKNOWN` if the failure is not the driver's.
    pub result: vk::Result,
    /// The reason, for people.
    pub reason: String,
}

impl From<String> for CreateError {
    fn from(reason: String) -> Self {
        Self {
            result: vk::Result::ERROR_UNKNOWN,
            reason,
        }
    }
}

impl From<&str> for CreateError {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

/// The function `name` of the next layer.
///
/// # Errors
/// The driver does not have the function.
pub fn require<F>(function: Option<F>, name: &str) -> Result<F, CreateError> {
    function.ok_or_else(|| format!("the driver lacks {name}").into())
}

/// Checks the result of the function `name`.
///
/// # Errors
/// The result is not `VK_SUCCESS`.
pub fn check(result: vk::Result, name: &str) -> Result<(), CreateError> {
    match result {
        vk::Result::SUCCESS => Ok(()),
        result => Err(CreateError {
            result,
            reason: format!("{name} failed: {result:?}"),
        }),
    }
}
