//! Files of the layer, compiled with loom's synchronization primitives ([`sync`]) instead of the standard library's. The
//! models in `tests/` run them under every interleaving of their threads:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --package vkabort-models --target-dir target/loom
//! ```
//!
//! Without `--cfg loom` the crate and the models are empty.
#![cfg(loom)]

pub mod loader;
#[path = "../../../layer/src/locks.rs"]
pub mod locks;
pub mod sync;
