//! Physical devices and devices: capabilities, creation, and the layer's state.

pub mod activate;
mod activation_log;
pub mod addresses;
pub mod create_info;
mod deferred_module;
mod identity;
pub mod loop_clock;
mod loop_limit;
pub mod module_files;
mod native_module;
mod new_markers;
pub mod prints;
pub mod probe;
mod recordings;
mod refused_stage;
pub mod registry;
mod rewrite_options;
pub mod sanitize;
pub mod shader;
pub mod specialization;
pub mod state;
mod submit_mark;
mod unused_aborts;
