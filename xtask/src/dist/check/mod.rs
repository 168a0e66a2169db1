//! `cargo xtask dist --check`: the packages do not depend on the folder that they are built in; installed in a fresh Debian,
//! they show the abort of the C example and its crash handler decodes it; removed, they leave nothing behind.

mod foreign;
mod native;
mod root;

use super::build;
use super::package::{Packed, pack};
use super::platform::Platform;
use super::reproducible;
use crate::{debian, toolchain};
use anyhow::{Result, ensure};
use std::fs;
use std::path::Path;
use vkabort_test_kit::{process, target as target_folder};

/// Checks packages whose files have the time `epoch`.
///
/// # Errors
///
/// A check fails; the text names it.
pub(super) fn check(platform: &Platform, packed: &Packed, epoch: u64) -> Result<()> {
    let folder = target_folder().join("dist-check");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    rebuild(platform, packed, epoch, &folder)?;
    ensure!(
        process::is_root(),
        "installing the packages in a fresh Debian needs root"
    );
    debian::require(&[debian::VULKAN_HEADERS], "building the example in C")?;
    if toolchain::host()? == platform.target {
        native::check(platform, packed, &folder)?;
    } else {
        foreign::check(platform, packed, &folder)?;
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// Builds a copy of the sources in another folder and compares the packages.
fn rebuild(platform: &Platform, packed: &Packed, epoch: u64, folder: &Path) -> Result<()> {
    let copy = folder.join("a copy of the sources");
    reproducible::copy_sources(&copy)?;
    let built = build::build(&copy, platform, &folder.join("build"))?;
    let again = pack(platform, &built, epoch, &folder.join("packages"))?;
    for (first, second) in packed.files.iter().zip(&again.files) {
        reproducible::compare(first, second)?;
    }
    println!("built twice: {} equal files", packed.files.len());
    Ok(())
}
