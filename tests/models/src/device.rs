//! The layer's state of a device.

pub mod state;
