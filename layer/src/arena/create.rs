//! Creates arenas.

use super::address_request::AddressRequest;
use super::address_source::AddressSource;
use super::error::CreateError;
use super::memory_type::{self, MemoryPreference};
use super::pending_arena::PendingArena;
use super::setup::ArenaSetup;
use super::{Arena, fixed_address, replay};
use crate::log::Level;
use crate::settings::{Choice as _, Memory};

impl Arena {
    /// Creates a zeroed arena.
    ///
    /// # Errors
    /// Which requirement the driver does not meet, or which Vulkan call failed.
    pub fn create(setup: &ArenaSetup<'_>) -> Result<Self, String> {
        if setup.cpu
            && let Some(arena) = fixed_address::create(setup)
        {
            return Ok(arena);
        }
        let preference = memory_type::drop_unsatisfiable(setup.memory_types, &setup.preference, setup.log);
        let setup = &ArenaSetup { preference, ..*setup };
        let error = match create_at_best_address(setup) {
            Ok(arena) => return Ok(arena),
            Err(error) => error.reason,
        };
        if preference.memory == Memory::Auto {
            return Err(error);
        }
        // The device has such memory, but perhaps not enough of it.
        let text = format!(
            "memory = {} is not possible: {error}; using auto",
            preference.memory.name()
        );
        setup.log.line(Level::Error, &text);
        let preference = MemoryPreference {
            memory: Memory::Auto,
            ..preference
        };
        create_at_best_address(&ArenaSetup { preference, ..*setup }).map_err(|error| error.reason)
    }
}

fn create_at_best_address(setup: &ArenaSetup<'_>) -> Result<Arena, CreateError> {
    replay::create(setup).or_else(|reason| {
        let pending = PendingArena::create(setup, AddressRequest::Any)?;
        pending.finish(setup, AddressSource::Driver(reason), None)
    })
}
