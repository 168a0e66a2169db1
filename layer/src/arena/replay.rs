//! Arenas at the address of an earlier run, on drivers with `bufferDeviceAddressCaptureReplay`. A run saves its opaque
//! capture addresses in the user's cache folder, and later runs ask for them.
//!
//! | outcome | file | address |
//! | --- | --- | --- |
//! | no file, or it is damaged after its first line | written | new, saved for later runs |
//! | not a file of this layer, or of another user | unchanged | chosen by the driver |
//! | the driver provides the address | unchanged | that of an earlier run |
//! | the driver refuses an address that no other device or process can have | replaced | new, saved for later runs |
//! | it refuses one that another device or process may have | unchanged (replaced after three refusals in a row) | from the next file |
//! | another error, and a new address works | as above | from the next file |
//! | a new address fails too | unchanged | chosen by the driver |
//!
//! Arenas that exist at the same time have different addresses, each with its own file. If the control block has its own
//! buffer, both addresses are replayed or neither is.

use super::address_cache::{self, AddressFile};
use super::capture_address::{CaptureAddress, CaptureAddresses};
use super::pending_arena::{AddressRequest, PendingArena};
use super::setup::{ArenaSetup, CreateError};
use super::{AddressSource, Arena};
use crate::environment::is_secure_execution;
use crate::log::Level;
use crate::settings::{Choice as _, ControlBlock, Memory};
use ash::vk;
use std::fmt::Write as _;
use vkabort_record::layout::CONTROL_BYTES;

/// Files to try at most. Each address that is in use costs an attempt.
const MAX_ATTEMPTS: usize = 4;
/// Returned by `vkCreateBuffer` or `vkAllocateMemory` if the address is not available.
const ADDRESS_REFUSED: vk::Result = vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;

/// Creates an arena at the address of an earlier run, or at a new one that later runs can ask for.
///
/// # Errors
/// Why the address must be the driver's choice.
pub fn create(setup: &ArenaSetup<'_>) -> Result<Arena, String> {
    if !setup.capture_replay {
        return Err("the driver lacks bufferDeviceAddressCaptureReplay".to_owned());
    }
    if is_secure_execution() {
        return Err("the process has more privileges than its user, so the layer reads and writes no file".to_owned());
    }
    let folder = address_cache::folder()?;
    let stem = file_stem(setup);
    let separate_control = setup.separate_control;
    let mut first_number = 0;
    for _ in 0..MAX_ATTEMPTS {
        let mut file = AddressFile::open(&folder, &stem, first_number)?;
        first_number = file.number() + 1;
        let saved = file.addresses();
        if let Some(addresses) = saved.filter(|saved| saved.control.is_some() == separate_control) {
            match replay(setup, addresses) {
                Ok(pending) => {
                    file.confirm();
                    let source = AddressSource::Replay(file.path());
                    return pending.finish(setup, source, Some(file)).map_err(|error| error.reason);
                }
                Err(error) => {
                    let refused = error.result == ADDRESS_REFUSED;
                    if !refused && PendingArena::create(setup, AddressRequest::Capture).is_err() {
                        return Err(error.reason);
                    }
                    if !file.count_refusal(refused && setup.only_device) {
                        let text = format!("the address in {} is in use: {}", file.path(), error.reason);
                        setup.log.line(Level::Info, &text);
                        continue;
                    }
                    let text = format!("the driver no longer provides the address in {}", file.path());
                    setup.log.line(Level::Warning, &text);
                }
            }
        }
        return capture(setup, file, separate_control);
    }
    Err(format!(
        "the addresses in {} are in use by other devices",
        folder.display()
    ))
}

fn replay<'a>(setup: &ArenaSetup<'a>, addresses: CaptureAddresses) -> Result<PendingArena<'a>, CreateError> {
    let pending = PendingArena::create(setup, AddressRequest::Replay(addresses))?;
    pending.records.address(setup.api)?;
    Ok(pending)
}

/// Creates an arena at a new address and saves it.
fn capture(setup: &ArenaSetup<'_>, mut file: AddressFile, separate_control: bool) -> Result<Arena, String> {
    let pending = PendingArena::create(setup, AddressRequest::Capture).map_err(|error| error.reason)?;
    let addresses = capture_addresses(setup, &pending).ok_or("the driver lacks vkGetBufferOpaqueCaptureAddress")?;
    let saved = match addresses.control.is_some() == separate_control {
        true => file.store(addresses),
        false => Err("the control block could not be created separately this time".to_owned()),
    };
    let (source, file) = match saved {
        Ok(()) => (AddressSource::Capture(file.path()), Some(file)),
        Err(reason) => (AddressSource::Driver(reason), None),
    };
    pending.finish(setup, source, file).map_err(|error| error.reason)
}

/// The opaque capture addresses of the buffers. `None`: the driver lacks the functions.
fn capture_addresses(setup: &ArenaSetup<'_>, pending: &PendingArena<'_>) -> Option<CaptureAddresses> {
    let next = setup.next;
    let of_buffer = next
        .vkGetBufferOpaqueCaptureAddress
        .or(next.vkGetBufferOpaqueCaptureAddressKHR)?;
    let of_memory = next
        .vkGetDeviceMemoryOpaqueCaptureAddress
        .or(next.vkGetDeviceMemoryOpaqueCaptureAddressKHR)?;
    let get = |buffer: vk::Buffer, memory: vk::DeviceMemory| {
        let buffer = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        let memory = vk::DeviceMemoryOpaqueCaptureAddressInfo::default().memory(memory);
        // SAFETY: buffer and memory were created with the flags for capture and replay.
        unsafe {
            CaptureAddress {
                buffer: of_buffer(setup.device, &buffer),
                memory: of_memory(setup.device, &memory),
            }
        }
    };
    let control = pending.control.as_ref().ok();
    Some(CaptureAddresses {
        records: get(pending.records.buffer, pending.records.memory),
        control: control.map(|control| get(control.buffer, control.memory)),
    })
}

/// The start of the file names: device, driver, and everything that affects the buffers' creation, since an address is valid
/// only for a buffer and memory "created with identical parameters".
fn file_stem(setup: &ArenaSetup<'_>) -> String {
    let layout = setup.layout();
    let mut stem = format!("arena-{}-{}", setup.identity, layout.buffer_bytes);
    if setup.preference.memory != Memory::Auto {
        let _ = write!(stem, "-{}", setup.preference.memory.name());
    }
    match setup.preference.control {
        ControlBlock::Auto => {}
        ControlBlock::Device => stem += "-control_device",
        ControlBlock::Host => stem += "-control_host",
    }
    if layout.control_bytes != CONTROL_BYTES {
        let _ = write!(stem, "_{}", layout.control_bytes);
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
