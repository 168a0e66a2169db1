//! Creates arenas.
//!
//! On CPU drivers device addresses are host addresses, so memory at a fixed host address has a fixed device address. The
//! memory is imported if the driver supports it. Otherwise a probe buffer shows whether device addresses are the host
//! addresses of mapped memory; if so, shaders reach the fixed address without any driver object.

use super::buffer_builder::{BufferRequest, PendingBuffer};
use super::mapped_buffer::{FixedMapping, GRANULARITY, MappedBuffer};
use super::memory_type::{self, MemoryChoice, MemoryPreference};
use super::pending_arena::{AddressRequest, PendingArena};
use super::setup::{ArenaSetup, CreateError};
use super::{AddressSource, Arena, replay};
use crate::log::Level;
use crate::settings::{Choice as _, ControlBlock, Memory};
use ash::vk;
use vkabort_record::layout::CONTROL_BYTES;

impl Arena {
    /// Creates a zeroed arena.
    ///
    /// # Errors
    /// The driver lacks a requirement, or a Vulkan call failed.
    pub fn create(setup: &ArenaSetup<'_>) -> Result<Self, CreateError> {
        if setup.cpu
            && let Some(arena) = create_at_fixed_address(setup)
        {
            return Ok(arena);
        }
        let preference = memory_type::drop_unsatisfiable(setup.memory_types, &setup.preference, setup.log);
        let setup = &with_preference(setup, preference);
        let error = match create_at_best_address(setup) {
            Ok(arena) => return Ok(arena),
            Err(error) => error,
        };
        if preference.memory == Memory::Auto {
            return Err(error);
        }
        // The device has such memory, but perhaps not enough of it.
        let text = format!(
            "memory = {} is not possible: {}; using auto",
            preference.memory.name(),
            error.reason
        );
        setup.log.line(Level::Error, &text);
        let preference = MemoryPreference {
            memory: Memory::Auto,
            ..preference
        };
        create_at_best_address(&with_preference(setup, preference))
    }
}

fn with_preference<'a>(setup: &ArenaSetup<'a>, preference: MemoryPreference) -> ArenaSetup<'a> {
    ArenaSetup {
        preference,
        separate_control: memory_type::wants_separate_control(setup.memory_types, &preference),
        ..*setup
    }
}

fn create_at_best_address(setup: &ArenaSetup<'_>) -> Result<Arena, CreateError> {
    replay::create(setup).or_else(|reason| {
        let pending = PendingArena::create(setup, AddressRequest::Any)?;
        pending.finish(setup, AddressSource::Driver(reason), None)
    })
}

/// Creates an arena at a fixed address. `None` if the driver does not allow it.
fn create_at_fixed_address(setup: &ArenaSetup<'_>) -> Option<Arena> {
    let imported = if setup.import { import(setup) } else { None };
    let (records, source) = match imported {
        Some(records) => (records, AddressSource::Import),
        None => (map_without_driver(setup)?, AddressSource::Host),
    };
    if setup.preference.memory != Memory::Auto {
        let name = setup.preference.memory.name();
        let text = format!("memory = {name} has no effect on a CPU driver: messages are in host memory");
        setup.log.line(Level::Error, &text);
    }
    let control = match setup.preference.control {
        // Not faster here, but allows the tests of separate control blocks to run on CPU drivers.
        ControlBlock::Device => FixedMapping::new(u64::from(CONTROL_BYTES))
            .map(MappedBuffer::without_driver)
            .ok_or("all fixed addresses are in use"),
        _ => Err("a CPU has no device memory"),
    };
    Some(Arena::new(setup, records, control, source, None))
}

/// Creates zeroed memory that commands of transfers write, of the kind that records are in.
///
/// # Errors
/// As [`Arena::create`].
pub fn create_transfer_memory(setup: &ArenaSetup<'_>, bytes: u32) -> Result<MappedBuffer, CreateError> {
    let request = BufferRequest {
        usage: vk::BufferUsageFlags::TRANSFER_DST,
        ..BufferRequest::default()
    };
    let mut pending = PendingBuffer::create(setup, bytes, request, host_type(setup))?;
    pending.map(bytes)?;
    pending.finish(setup.api)
}

/// Maps memory that the driver does not know, if device addresses are host addresses.
fn map_without_driver(setup: &ArenaSetup<'_>) -> Option<MappedBuffer> {
    let mut probe =
        PendingBuffer::create(setup, GRANULARITY as u32, BufferRequest::default(), host_type(setup)).ok()?;
    let address = probe.address(setup.api).ok()?;
    probe.map(0).ok()?;
    if probe.base?.as_ptr() as u64 != address {
        return None;
    }
    drop(probe);
    FixedMapping::new(u64::from(setup.layout().buffer_bytes)).map(MappedBuffer::without_driver)
}

/// Imports memory at a fixed address, if the buffer then has this address.
fn import(setup: &ArenaSetup<'_>) -> Option<MappedBuffer> {
    let request = BufferRequest {
        import: true,
        ..BufferRequest::default()
    };
    let pending = PendingBuffer::create(setup, setup.layout().buffer_bytes, request, host_type(setup)).ok()?;
    if pending.address(setup.api).ok()? != pending.base?.as_ptr() as u64 {
        return None;
    }
    pending.finish(setup.api).ok()
}

/// Chooses a memory type regardless of the setting `memory`.
fn host_type<'a>(setup: &'a ArenaSetup<'_>) -> impl Fn(u32) -> Result<MemoryChoice, String> + 'a {
    let preference = MemoryPreference {
        memory: Memory::Auto,
        ..setup.preference
    };
    move |allowed| {
        memory_type::for_records(setup.memory_types, allowed, &preference)
            .ok_or_else(|| "no memory type is host-visible and coherent".to_owned())
    }
}
