//! Files of the layer, compiled with loom's synchronization primitives ([`sync`]) instead of the standard library's. The
//! models in `tests/` run them under every interleaving of their threads.
//!
//! ```text
//! of the layer:  loader/handle_map, locks, device_loss, device/device_state, device/state
//! simulated:     sync (also the clock), driver with its queues, arena, report, settings, device/features
//! ```

pub mod arena;
pub mod device;
#[path = "../../../layer/src/device_loss/mod.rs"]
pub mod device_loss;
pub mod driver;
pub mod loader;
#[path = "../../../layer/src/locks.rs"]
pub mod locks;
pub mod report;
pub mod settings;
pub mod sync;
