//! One file a lowering. Passes read an immutable index and return edits; the order is in `pipeline.rs`.

pub(crate) mod abort;
mod abort_text;
pub(crate) mod constant_data;
mod constructs;
mod handles;
pub(crate) mod loops;
pub(crate) mod mark;
mod memory;
mod origins;
pub(crate) mod outline;
mod phi;
pub(crate) mod plan;
pub(crate) mod poison;
pub(crate) mod poll;
mod region;
mod results;
mod shared;
pub(crate) mod strip;
mod unwind;
