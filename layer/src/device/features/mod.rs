//! Features of the layer, a folder each: what it needs of the creation of a device, of a submission, of a loss and of the report.
//!
//! A feature imports no other, except for those behind its arrow; a test of `xtask` checks it:
//!
//! ```text
//! addresses
//! arena
//! loop_clock
//! markers
//! prints
//! recordings -> markers
//! shadow
//! ```

pub mod addresses;
pub mod arena;
pub mod loop_clock;
pub mod markers;
pub mod prints;
pub mod recordings;
pub mod shadow;
