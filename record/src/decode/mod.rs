//! Payload bytes to typed values.

pub mod convention;
mod payload;

pub use payload::{Decoded, Field, Value, decode, decode_with, fits};
