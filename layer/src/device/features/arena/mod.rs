//! Creates the arena of a new device.

use crate::arena::{Arena, ArenaSetup, CreateError};
use crate::log::Level;
use vkabort_record::layout::CONTROL_BYTES;

/// Creates an arena for records. Without memory for all of it, creates it without its optional parts, and logs which are missing.
///
/// # Errors
/// As [`Arena::create`].
pub fn create(setup: &ArenaSetup<'_>) -> Result<Arena, CreateError> {
    Arena::create(setup).or_else(|error| {
        let mut optional = setup.parts.optional().peekable();
        if optional.peek().is_none() {
            return Err(error);
        }
        for text in optional {
            let text = format!("{text}: no memory: {}", error.reason);
            setup.log.line(Level::Error, &text);
        }
        Arena::create(&ArenaSetup {
            parts: setup.parts.without_optional(),
            ..*setup
        })
    })
}

/// Creates an arena for the constant data of a device without records. `None` if it cannot be created, which the log explains.
pub fn create_for_constant_data(setup: &ArenaSetup<'_>) -> Option<Arena> {
    let arena = Arena::create(&ArenaSetup {
        bytes: CONTROL_BYTES,
        parts: setup.parts.without_optional(),
        ..*setup
    });
    arena
        .inspect_err(|error| {
            let text = format!(
                "large constant data will compile slowly, since shaders cannot read it from memory: {}",
                error.reason
            );
            setup.log.line(Level::Warning, &text);
        })
        .ok()
}
