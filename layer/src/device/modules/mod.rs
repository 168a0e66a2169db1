//! Rewrites the modules of a device, and reports those that cannot be rewritten or run without checks.

mod deferred;
mod native;
mod refused_stage;
pub mod rewrite;
pub mod specialization;
pub mod unchecked;
mod unused_aborts;
