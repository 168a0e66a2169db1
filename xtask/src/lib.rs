//! What the project's commands and its end-to-end tests share: where the drivers are, how the layer is built, and the
//! environment in which a program meets exactly the driver and the layers that it should.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "commands talk to the person who runs them"
)]

pub mod bundle;
pub mod debian;
pub mod demo;
pub mod drivers;
pub mod environment;
pub mod layer;
pub mod pack;
pub mod portable;
pub mod process;
pub mod provision;
pub mod slang;
pub mod test;

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where downloads and unpacked drivers are kept. Git ignores it.
pub fn store() -> PathBuf {
    root().join(".vkabort")
}

/// Where builds go: `CARGO_TARGET_DIR`, or `target` in the repository.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}
