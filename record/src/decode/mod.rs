//! Payload bytes to typed values: by the message type of the abort site, or by convention without one.

mod array_length;
mod convention;
mod payload;

pub use array_length::{fits, fixed_size};
pub use convention::{Guess, guess};
pub use payload::{Decoded, decode};

/// Types nested deeper than this are left as bytes: shaders are not, and JSON readers stop at 128 levels.
const MAX_DEPTH: u32 = 48;
