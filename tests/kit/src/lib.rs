//! Helpers shared by the project's own commands and tests:
//! builds of the layer, test drivers, and the environment that restricts a program to one driver and the chosen layers.
//!
//! Must not depend on C++ or parse command lines.

pub mod bundle;
pub mod call_log;
pub mod cargo;
#[cfg(unix)]
pub mod decoder;
pub mod display;
pub mod drivers;
pub mod environment;
pub mod glslang;
pub mod gpu_drivers;
pub mod i686;
pub mod layer;
pub mod portability;
pub mod process;
pub mod programs;
pub mod scratch;
pub mod slang;
pub mod spirv_tools;
pub mod wine;

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    kit.ancestors().nth(2).unwrap_or(kit).to_path_buf()
}

/// Folder of downloads and unpacked drivers. Git ignores it.
pub fn store() -> PathBuf {
    root().join(".vkabort")
}

/// Cargo's target folder: `CARGO_TARGET_DIR`, or `target` in the repository.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The file to which end-to-end cases that fail are appended, by all runs.
pub fn e2e_failures() -> PathBuf {
    target().join("e2e-failures.txt")
}
