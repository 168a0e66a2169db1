//! `cargo xtask test --windows`: the checks of the Windows code.

use crate::toolchain;
use anyhow::Result;
use vkabort_test_kit::process;

/// The target of all Windows builds: its linker is free software that runs on Linux.
const TARGET: &str = "x86_64-pc-windows-gnu";

/// The crates that are part of a Windows release or of its tests.
const PACKAGES: [&str; 7] = [
    "vkabort-layer",
    "vkabort-cli",
    "vkabort-conform",
    "vkabort-windows",
    "vkabort-driver",
    "vkabort-demo",
    "vkabort-test-kit",
];

/// Lints the Windows code.
///
/// # Errors
///
/// There is no standard library for the target, or a check fails.
pub fn test() -> Result<()> {
    toolchain::add_target(TARGET)?;
    let packages: Vec<&str> = PACKAGES.iter().flat_map(|package| ["--package", package]).collect();
    let mut clippy = toolchain::cargo(&["clippy", "--target", TARGET]);
    process::run(clippy.args(packages).args(["--", "-D", "warnings"]))
}
