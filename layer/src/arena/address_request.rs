//! Which addresses an arena asks the driver for.

use super::buffer_builder::BufferRequest;
use super::capture_address::{CaptureAddress, CaptureAddresses};
use ash::vk;

/// Which addresses an arena asks the driver for.
#[derive(Clone, Copy)]
pub enum AddressRequest {
    /// Any.
    Any,
    /// New ones that later runs can ask for.
    Capture,
    /// Those of an earlier run.
    Replay(CaptureAddresses),
}

impl AddressRequest {
    /// The request for the records' buffer.
    pub fn records(self) -> BufferRequest {
        self.buffer(|addresses| Some(addresses.records))
    }

    /// The request for a separate control block.
    pub fn control(self) -> BufferRequest {
        self.buffer(|addresses| addresses.control)
    }

    fn buffer(self, select: impl Fn(CaptureAddresses) -> Option<CaptureAddress>) -> BufferRequest {
        let address = match self {
            Self::Any => return BufferRequest::default(),
            Self::Capture => None,
            Self::Replay(addresses) => select(addresses),
        };
        let address = address.unwrap_or_default();
        BufferRequest {
            buffer_flags: vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY,
            allocate_flags: vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY,
            buffer_address: address.buffer,
            memory_address: address.memory,
            import: false,
        }
    }

    /// The addresses to replay.
    pub fn replayed(self) -> Option<CaptureAddresses> {
        match self {
            Self::Replay(addresses) => Some(addresses),
            _ => None,
        }
    }
}
