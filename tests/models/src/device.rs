//! The layer's state of a device.

#[path = "../../../layer/src/device/device_state.rs"]
mod device_state;
pub mod features;
pub mod state;

pub use device_state::{AbortState, Device};
