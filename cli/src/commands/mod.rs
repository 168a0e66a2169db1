//! One file per command.

pub mod completions;
pub mod decode;
pub mod instrument;
pub mod sites;
