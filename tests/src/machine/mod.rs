//! The bundle: the cases and measurements on the driver of a machine without toolchain, network or repository.
//!
//! `cargo xtask bundle` packs this program with the files that it needs; on the other machine it lies beside them, as `run`. It
//! never calls Vulkan itself, so that a driver that hangs or crashes affects one case only.

mod args;
mod device;
mod files;
mod parts;
mod run;

pub use files::carried_files;
pub use run::main;

/// Argument that makes the program print the devices of the machine: `vkabort_conform::probe::machine`.
pub const PROBE: &str = "--probe";
