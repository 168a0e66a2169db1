//! The inputs for creating an arena, and why one could not be created.

use super::memory_type::MemoryPreference;
use crate::loader::dispatch::DeviceTable;
use crate::log::Log;
use ash::vk;
use vkabort_record::layout::CONTROL_BYTES;

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
    /// How to choose among them.
    pub preference: MemoryPreference,
    /// Families of the device's queues.
    pub families: &'a [u32],
    /// Size of the arena in bytes.
    pub bytes: u32,
    /// Size in bytes of the memory for prints that follows.
    pub print_bytes: u32,
    /// Size in bytes of the memory for shadows: behind a separate control block, or else behind the prints.
    pub shadow_bytes: u32,
    /// Whether a separate control block is wanted, which shadows are then behind. `Arena::create` finds out.
    pub separate_control: bool,
    /// Size in bytes of the memory for the table of buffers that follows.
    pub table_bytes: u32,
    /// Size in bytes of the memory for constant data that follows.
    pub constant_bytes: u32,
    /// How to get buffer addresses.
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

/// Alignment in bytes of these parts.
const ALIGNMENT: u32 = 256;

impl ArenaSetup<'_> {
    /// Offset of the memory for prints, in bytes. None if there is no such memory.
    pub fn prints_start(&self) -> Option<u32> {
        part_behind(self.bytes, self.print_bytes)
    }

    fn prints_end(&self) -> u32 {
        self.prints_start().map_or(self.bytes, |start| start + self.print_bytes)
    }

    /// Offset of the memory for shadows, in bytes. None if it is behind a separate control block, or if there is no such memory.
    pub fn shadows_start(&self) -> Option<u32> {
        part_behind(self.prints_end(), self.shadow_bytes).filter(|_| !self.separate_control)
    }

    /// End of the parts that are zero at first.
    pub fn zeroed_end(&self) -> u32 {
        self.shadows_start()
            .map_or(self.prints_end(), |start| start + self.shadow_bytes)
    }

    /// Size in bytes of a separate control block and the shadows behind it.
    pub fn control_bytes(&self) -> u32 {
        CONTROL_BYTES + if self.separate_control { self.shadow_bytes } else { 0 }
    }

    /// Offset of the memory for the table of buffers, in bytes. None if there is no such memory.
    pub fn table_start(&self) -> Option<u32> {
        part_behind(self.zeroed_end(), self.table_bytes)
    }

    fn table_end(&self) -> u32 {
        self.table_start()
            .map_or(self.zeroed_end(), |start| start + self.table_bytes)
    }

    /// Offset of the memory for constant data, in bytes. None if there is no such memory.
    pub fn constants_start(&self) -> Option<u32> {
        part_behind(self.table_end(), self.constant_bytes)
    }

    /// Size of the buffer in bytes.
    pub fn buffer_bytes(&self) -> u32 {
        self.constants_start()
            .map_or(self.table_end(), |start| start + self.constant_bytes)
    }
}

/// Offset of a part of `bytes` bytes behind `end`. None if it is empty or does not fit.
fn part_behind(end: u32, bytes: u32) -> Option<u32> {
    let start = end.checked_next_multiple_of(ALIGNMENT)?;
    start.checked_add(bytes)?;
    (bytes > 0).then_some(start)
}

/// Why a buffer or an arena could not be created.
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
