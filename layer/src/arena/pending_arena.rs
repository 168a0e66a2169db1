//! The buffers of an arena under construction, and the addresses that it asks the driver for.

use super::address_cache::AddressFile;
use super::buffer_builder::{BufferRequest, PendingBuffer};
use super::capture_address::{CaptureAddress, CaptureAddresses};
use super::memory_type;
use super::setup::{ArenaSetup, CreateError};
use super::{AddressSource, Arena};
use crate::log::Level;
use ash::vk::{self, MemoryPropertyFlags as Property};

/// The buffers of an arena under construction. Destroyed when dropped.
pub struct PendingArena<'a> {
    pub records: PendingBuffer<'a>,
    /// A separate control block, or why there is none.
    pub control: Result<PendingBuffer<'a>, &'static str>,
}

impl<'a> PendingArena<'a> {
    /// Creates and maps the buffers. A separate control block is optional, unless its address is replayed.
    ///
    /// # Errors
    /// A buffer could not be created, or the replayed addresses belong to other buffers.
    pub fn create(setup: &ArenaSetup<'a>, request: AddressRequest) -> Result<Self, CreateError> {
        let (types, preference) = (setup.memory_types, &setup.preference);
        let replayed = request.replayed();
        let layout = setup.layout();
        let records = PendingBuffer::create(setup, layout.buffer_bytes, request.records(), |allowed| {
            memory_type::for_records(types, allowed, preference)
                .ok_or_else(|| "no memory type is host-visible and coherent".to_owned())
        })?;
        let flags = records.choice.map_or(Property::empty(), |choice| choice.flags);
        let choose = |allowed| memory_type::for_control_block(types, allowed, preference, flags);
        let control = match choose(u32::MAX) {
            Err(reason) => Err(reason),
            Ok(_) => {
                let choose = |allowed| choose(allowed).map_err(str::to_owned);
                match PendingBuffer::create(setup, layout.control_bytes, request.control(), choose) {
                    Err(error) if replayed.is_some() => return Err(error),
                    Err(error) => Err(without_control_block(setup, &error)),
                    Ok(buffer) => Ok(buffer),
                }
            }
        };
        if replayed.is_some_and(|addresses| addresses.control.is_some() != control.is_ok()) {
            return Err("the addresses of the earlier run belong to other buffers".into());
        }
        let mut pending = Self { records, control };
        // Not the memory for constant data, which is written before it is read.
        pending.records.map(layout.zeroed_bytes)?;
        if let Ok(control) = &mut pending.control
            && let Err(error) = control.map(layout.control_bytes)
        {
            if replayed.is_some() {
                return Err(error);
            }
            pending.control = Err(without_control_block(setup, &error));
        }
        Ok(pending)
    }

    /// Completes the arena.
    ///
    /// # Errors
    /// A buffer has no usable address.
    pub fn finish(
        self,
        setup: &ArenaSetup<'_>,
        source: AddressSource,
        address_file: Option<AddressFile>,
    ) -> Result<Arena, CreateError> {
        // Checked first, since a completed buffer is not destroyed when dropped.
        self.records.address(setup.api)?;
        let control = match self.control {
            Ok(buffer) => Ok(buffer.finish(setup.api)?),
            Err(reason) => Err(reason),
        };
        let records = match self.records.finish(setup.api) {
            Ok(records) => records,
            Err(error) => {
                if let Ok(control) = control {
                    // SAFETY: no work was submitted yet.
                    unsafe { control.destroy(setup.device, setup.next) };
                }
                return Err(error);
            }
        };
        Ok(Arena::new(setup, records, control, source, address_file))
    }
}

/// Logs why the control block has no buffer of its own.
fn without_control_block(setup: &ArenaSetup<'_>, error: &CreateError) -> &'static str {
    let text = format!("the control block stays before the messages: {}", error.reason);
    setup.log.line(Level::Warning, &text);
    "a separate one could not be created"
}

/// The addresses that an arena asks the driver for.
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
            ..BufferRequest::default()
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
