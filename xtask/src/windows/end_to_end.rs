//! The end-to-end cases as a Windows program in Wine. The harness that starts them runs on Linux.

use super::build::{built, cargo};
use super::wine::Wine;
use crate::toolchain;
use anyhow::Result;
use std::fs;
use std::path::Path;
use vkabort_test_kit::{process, wine};

const PROGRAM: &str = "vkabort-e2e.exe";

/// Builds the program into `folder`.
///
/// # Errors
///
/// The build fails.
pub fn build(folder: &Path) -> Result<()> {
    process::run(cargo("build", &["tests"]).args(["--bin", "vkabort-e2e"]))?;
    fs::copy(built(PROGRAM), folder.join(PROGRAM))?;
    Ok(())
}

/// Runs the cases.
///
/// # Errors
///
/// A case fails, or the harness does not build.
pub fn test(prefix: &Wine) -> Result<()> {
    let mut harness = toolchain::cargo(&["test", "--package", "vkabort-tests", "--test", "e2e"]);
    prefix.prepare(&mut harness);
    harness
        .env(wine::PROGRAMS, &prefix.folder)
        .env("VKABORT_REQUIRE_DRIVERS", "1");
    process::run(&mut harness)
}
