//! Physical devices and devices: their creation, modules, features and state.
//!
//! A folder or file imports only from its own line and the lines below it; a test of `xtask` checks it:
//!
//! ```text
//! modules
//! creation
//! registry
//! device_state
//! features
//! state
//! ```
//!
//! `features` has a folder for each feature of the layer. Everything else finds a feature's state in [`AbortState`], by one field.

pub mod creation;
mod device_state;
pub mod features;
pub mod modules;
pub mod registry;
pub mod state;

pub use device_state::{AbortState, Device};
