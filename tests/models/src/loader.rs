//! The map of handles.

#[path = "../../../layer/src/loader/handle_map.rs"]
pub mod handle_map;
