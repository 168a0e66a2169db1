//! `cargo xtask dist`: Debian packages and a relocatable archive of the layer, the command and the C library, and their debug
//! information.
//!
//! The files depend on the sources, on the versions of Rust and zig, and on `SOURCE_DATE_EPOCH` (by default the time of the
//! last commit), not on the machine or the folder.

mod build;
mod check;
mod contents;
mod deb;
mod deb_packages;
pub mod licenses;
mod package;
mod platform;
pub mod reproducible;
mod tree;

use crate::{debian, toolchain};
use anyhow::Result;
use package::{epoch, pack};
use platform::Platform;
use std::fs;
use vkabort_test_kit::{root, target as target_folder};

/// Builds the packages into `target/packages`, for this machine unless a target is named. With `check`, builds them twice, and
/// installs, uses and removes them in a fresh Debian.
///
/// # Errors
///
/// A download, a build or a check fails.
pub fn dist(target: Option<&str>, check: bool) -> Result<()> {
    debian::require(&[("objdump", "binutils"), ("lintian", "lintian")], "making packages")?;
    let target = target.map_or_else(toolchain::host, |target| Ok(target.to_owned()))?;
    let platform = Platform::of(&target)?;
    let out = target_folder().join("packages");
    let built = build::build(&root(), &platform, &target_folder().join("dist-build"))?;
    let epoch = epoch()?;
    let packed = pack(&platform, &built, epoch, &out)?;
    for (name, path) in [
        ("layer", &built.library.path),
        ("command", &built.command.path),
        ("C library", &built.decoder.path),
        ("static C library", &built.decoder_archive),
    ] {
        println!("{name}: {} KiB", fs::metadata(path)?.len() / 1024);
    }
    println!("needs glibc {}", built.glibc);
    for file in &packed.files {
        println!("{} ({} KiB)", file.display(), fs::metadata(file)?.len() / 1024);
    }
    if check {
        check::check(&platform, &packed, epoch)?;
    }
    Ok(())
}
