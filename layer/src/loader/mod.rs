//! The boundary to the loader: its interface, the chains and handles that it passes, and the next layer's functions.

pub mod chain;
pub mod commands;
pub mod dispatch;
pub mod ffi;
pub mod handle_map;
pub mod link;
pub mod recorded;
