//! One file or folder a lowering. Passes read an immutable index and return edits; the order is in `pipeline.rs`.

pub(crate) mod abort;
mod abort_text;
pub(crate) mod constant_data;
mod handles;
pub(crate) mod loops;
pub(crate) mod mark;
pub(crate) mod outline;
mod phi;
pub(crate) mod plan;
pub(crate) mod poison;
pub(crate) mod poll;
mod region;
pub(crate) mod strip;
mod unwind;
