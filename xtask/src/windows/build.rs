//! Builds for Windows.

use crate::{debian, toolchain};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;
use vkabort_test_kit::target;

/// The target of all Windows builds: its linker is free software that runs on Linux.
pub const TARGET: &str = "x86_64-pc-windows-gnu";

/// Installs the tools that building for Windows needs.
///
/// # Errors
///
/// The standard library or the linker cannot be installed.
pub fn install_linker() -> Result<()> {
    toolchain::add_target(TARGET)?;
    let linker = ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64-win32");
    debian::require(&[linker], "building for Windows")
}

/// A task of Cargo for the target, on these crates.
pub fn cargo(task: &str, crates: &[&str]) -> Command {
    let mut command = toolchain::cargo(&[task, "--target", TARGET]);
    for name in crates {
        command.arg("--package").arg(format!("vkabort-{name}"));
    }
    command
}

/// A file that a build for tests has produced, in the dev profile as all of the tests' builds.
pub fn built(name: &str) -> PathBuf {
    target().join(TARGET).join("debug").join(name)
}
