//! One file or folder a lowering. Passes read an immutable index and return edits; the order is in `pipeline.rs`.

pub(crate) mod abort;
pub(crate) mod constant_data;
pub(crate) mod loop_normalize;
pub(crate) mod outline;
pub(crate) mod poison;
pub(crate) mod site_numbering;
pub(crate) mod strip;
