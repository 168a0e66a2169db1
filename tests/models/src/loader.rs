//! The map of handles of the layer, and the driver's functions that the layer calls.

pub mod dispatch;
#[path = "../../../layer/src/loader/handle_map.rs"]
pub mod handle_map;
