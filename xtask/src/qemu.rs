//! Runs programs for ARM64: qemu's user mode, and Debian's libraries, Vulkan loader and lavapipe for that architecture,
//! all unpacked into `.vkabort/`.

use crate::debian::Archive;
use anyhow::Result;
use std::fs;
use std::path::PathBuf;
use vkabort_test_kit::store;

/// The target of the programs.
pub const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Folder of the ARM64 system.
pub fn system() -> PathBuf {
    store().join("arm64/system")
}

/// The words before a command line that run it, as in `qemu-aarch64 -L SYSTEM PROGRAM`. Unpacks qemu and the ARM64 system
/// if they are missing.
///
/// # Errors
///
/// A package cannot be downloaded or unpacked.
pub fn runner() -> Result<Vec<String>> {
    let folder = store().join("arm64");
    if !folder.is_dir() {
        // Unpacked beside its place and moved there when complete, so that an interrupted run leaves nothing half done.
        let fresh = folder.with_extension("new");
        let _ = fs::remove_dir_all(&fresh);
        let archive = Archive::open(&store().join("apt"))?;
        archive.unpack(&["qemu-user-static"], false, &fresh.join("qemu"))?;
        let packages = ["mesa-vulkan-drivers", "libvulkan1", "libgcc-s1"];
        let arm64 = archive.other_architecture("arm64")?;
        arm64.unpack_with_dependencies(&packages, &fresh.join("system"))?;
        fs::rename(&fresh, &folder)?;
        println!("ARM64 system and qemu: unpacked into {}", folder.display());
    }
    let qemu = folder.join("qemu/usr/bin/qemu-aarch64-static");
    Ok(vec![
        qemu.display().to_string(),
        "-L".into(),
        system().display().to_string(),
    ])
}
