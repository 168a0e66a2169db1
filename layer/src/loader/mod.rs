//! The boundary to the loader: its interface, the functions it calls first, the chains and handles it passes, and the
//! functions of the next layer.

pub mod chain;
pub mod dispatch;
pub mod entry;
pub mod ffi;
pub mod pin_libraries;
pub mod registry;
