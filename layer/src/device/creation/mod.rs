//! Probes physical devices and creates devices: the edited create-info, the state with its features, the options for rewriting
//! modules, and the lines of the log.

pub mod activate;
pub mod create_info;
mod creation_log;
mod identity;
mod loop_limit;
pub mod probe;
pub mod queries;
mod rewrite_options;
