//! What a physical device supports, how a device is created, and what the layer keeps for it.

pub mod activate;
pub mod create_info;
pub mod probe;
pub mod shader;
pub mod state;
