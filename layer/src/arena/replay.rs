//! Drivers with `bufferDeviceAddressCaptureReplay`: the opaque addresses that a run is given are kept in the user's cache
//! directory, and later runs ask for them.
//!
//! | what happens | the file | the address |
//! | --- | --- | --- |
//! | there is none, or it is damaged | written | new, for later runs |
//! | the driver gives what is asked for | stays | that of an earlier run |
//! | it refuses the address, and nobody else is there who could have it | replaced | new, for later runs |
//! | it refuses the address, which another device or process may have | stays (the third time in a row: replaced) | the next file's |
//! | something else fails, and a new address works | the same | the next file's |
//! | nothing works | stays | the driver's choice |
//!
//! Arenas of devices that live at the same time have different addresses, each with a file of its own. Both buffers of an
//! arena with a control block of its own are asked for, or none.

use super::address_cache::AddressFile;
use super::buffer_builder::{Extra, Refused};
use super::capture_address::{CaptureAddress, CaptureAddresses};
use super::{AddressApi, Arena, PendingArena, Setup, Source, memory};
use crate::report::log::Level;
use crate::settings::{ControlBlock, Memory};
use ash::vk;
use std::fmt::Write as _;

/// Addresses of devices that live at the same time, at most: each costs an attempt where they are taken.
const ATTEMPTS: usize = 4;
/// What a driver says whose address is taken, when a buffer is made or memory allocated.
const TAKEN: vk::Result = vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;

/// Which addresses an arena is to have.
#[derive(Clone, Copy)]
pub enum AddressRequest {
    /// Any.
    Nothing,
    /// Any that can be asked for again.
    Capture,
    /// These.
    Addresses(CaptureAddresses),
}

impl AddressRequest {
    pub fn of_records(self) -> Extra<'static> {
        self.extra(|known| Some(known.records))
    }

    pub fn of_control(self) -> Extra<'static> {
        self.extra(|known| known.control)
    }

    fn extra(self, part: impl Fn(CaptureAddresses) -> Option<CaptureAddress>) -> Extra<'static> {
        let known = match self {
            Self::Nothing => return Extra::default(),
            Self::Capture => None,
            Self::Addresses(known) => part(known),
        };
        let known = known.unwrap_or_default();
        Extra {
            buffer_flags: vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY,
            allocate_flags: vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY,
            buffer_address: known.buffer,
            memory_address: known.memory,
            ..Extra::default()
        }
    }

    /// Nothing may be done without, then.
    pub fn is_address(self) -> bool {
        matches!(self, Self::Addresses(_))
    }

    /// Whether these are the addresses of an arena whose control block is apart.
    pub fn has_control(self) -> Option<bool> {
        match self {
            Self::Addresses(known) => Some(known.control.is_some()),
            _ => None,
        }
    }
}

/// An arena at the address of an earlier run, or at a new one that is kept.
///
/// # Errors
/// Why the address will not be the same in the next run.
pub fn create(setup: &Setup<'_>) -> Result<Arena, String> {
    if setup.api == AddressApi::Ext || !setup.capture_replay {
        return Err("the driver cannot give the same address again".to_owned());
    }
    let folder = super::address_cache::folder()?;
    let stem = stem(setup);
    let apart = wants_control(setup);
    let mut least = 0;
    for _ in 0..ATTEMPTS {
        let mut kept = AddressFile::open(&folder, &stem, least)?;
        least = kept.number() + 1;
        if let Some(known) = kept.known().filter(|known| known.control.is_some() == apart) {
            match at(setup, known) {
                Ok(made) => {
                    kept.was_given();
                    let source = Source::Replay(kept.path());
                    return made.into_arena(setup, source, Some(kept)).map_err(|e| e.reason);
                }
                Err(refused) => {
                    let taken = refused.result == TAKEN;
                    if !taken && PendingArena::create(setup, AddressRequest::Capture).is_err() {
                        return Err(refused.reason);
                    }
                    if !kept.was_refused(taken && setup.alone) {
                        let text = format!("the address kept in {} is taken: {}", kept.path(), refused.reason);
                        setup.log.line(Level::Info, &text);
                        continue;
                    }
                    let text = format!("the driver does not give the address kept in {} any more", kept.path());
                    setup.log.line(Level::Warning, &text);
                }
            }
        }
        return captured(setup, kept, apart);
    }
    Err(format!(
        "the addresses kept in {} are taken by other devices",
        folder.display()
    ))
}

fn at<'a>(setup: &Setup<'a>, known: CaptureAddresses) -> Result<PendingArena<'a>, Refused> {
    let made = PendingArena::create(setup, AddressRequest::Addresses(known))?;
    made.records.address(setup)?;
    Ok(made)
}

/// A new address, and kept.
fn captured(setup: &Setup<'_>, mut kept: AddressFile, apart: bool) -> Result<Arena, String> {
    let made = PendingArena::create(setup, AddressRequest::Capture).map_err(|refused| refused.reason)?;
    let found = opaques(setup, &made).ok_or("the driver lacks vkGetBufferOpaqueCaptureAddress")?;
    let stored = match found.control.is_some() == apart {
        true => kept.store(found),
        false => Err("its control block could have no memory of its own this time".to_owned()),
    };
    let (source, kept) = match stored {
        Ok(()) => (Source::Capture(kept.path()), Some(kept)),
        Err(why) => (Source::Driver(why), None),
    };
    made.into_arena(setup, source, kept).map_err(|refused| refused.reason)
}

/// What the driver calls the addresses of both buffers.
fn opaques(setup: &Setup<'_>, made: &PendingArena<'_>) -> Option<CaptureAddresses> {
    let next = setup.next;
    let of_buffer = next
        .vkGetBufferOpaqueCaptureAddress
        .or(next.vkGetBufferOpaqueCaptureAddressKHR)?;
    let of_memory = next
        .vkGetDeviceMemoryOpaqueCaptureAddress
        .or(next.vkGetDeviceMemoryOpaqueCaptureAddressKHR)?;
    let of = |buffer: vk::Buffer, memory: vk::DeviceMemory| {
        let buffer = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let memory = vk::DeviceMemoryOpaqueCaptureAddressInfo::default().memory(memory);
        // SAFETY: both were made with the capture flags.
        unsafe {
            CaptureAddress {
                buffer: of_buffer(setup.device, &buffer),
                memory: of_memory(setup.device, &memory),
            }
        }
    };
    Some(CaptureAddresses {
        records: of(made.records.buffer, made.records.memory),
        control: made.control.as_ref().ok().map(|parts| of(parts.buffer, parts.memory)),
    })
}

/// Whether the arena of such a device has a control block of its own, where nothing is refused.
fn wants_control(setup: &Setup<'_>) -> bool {
    let records = memory::records(setup.types, u32::MAX, &setup.preference);
    records.is_some_and(|records| memory::control(setup.types, u32::MAX, &setup.preference, records.flags).is_ok())
}

/// Names of the files begin with the device, the driver, and everything else that the buffers are made with: an address is
/// good for a buffer and memory "created with identical parameters" alone.
fn stem(setup: &Setup<'_>) -> String {
    let mut stem = String::from("arena-");
    for byte in setup.physical.identity {
        let _ = write!(stem, "{byte:02x}");
    }
    let _ = write!(stem, "-{}", setup.bytes);
    if setup.preference.memory != Memory::Auto {
        let _ = write!(stem, "-{}", setup.preference.memory.name());
    }
    match setup.preference.control {
        ControlBlock::Auto => {}
        ControlBlock::Device => stem += "-control_device",
        ControlBlock::Host => stem += "-control_host",
    }
    if setup.preference.device_coherent {
        stem += "-device_coherent";
    }
    if setup.families.len() > 1 {
        stem += "-families";
        for family in setup.families {
            let _ = write!(stem, "_{family}");
        }
    }
    stem
}
