//! The subcommands: one file for each, with its arguments.

pub mod check;
pub mod completions;
pub mod conform;
pub mod decode;
pub mod doctor;
pub mod install;
pub mod instrument;
pub mod man;
pub mod run;
pub mod sanitize;
pub mod settings;
pub mod sites;
