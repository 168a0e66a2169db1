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
    let system = system();
    if !system.is_dir() {
        fs::create_dir_all(&folder)?;
        let archive = Archive::open(&store().join("apt"))?;
        archive.unpack(&["qemu-user-static"], false, &folder.join("qemu"))?;
        let packages = ["mesa-vulkan-drivers", "libvulkan1", "libgcc-s1"];
        archive.unpack_system("arm64", &packages, &system, |_| Ok(()))?;
    }
    let qemu = folder.join("qemu/usr/bin/qemu-aarch64-static");
    Ok(vec![
        qemu.display().to_string(),
        "-L".into(),
        system.display().to_string(),
    ])
}
