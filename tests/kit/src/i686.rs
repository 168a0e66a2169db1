//! Runs 32-bit programs for x86 on x86-64 Linux, with Debian's libraries, Vulkan loader and lavapipe for i386, which `cargo xtask
//! test --i686` unpacks.

use crate::drivers::Driver;
use crate::store;
use std::path::{Path, PathBuf};

/// Environment variable with the folder of the 32-bit builds that the end-to-end tests run. `cargo xtask test --i686` sets it.
pub const PROGRAMS: &str = "VKABORT_I686_PROGRAMS";
/// The target of the builds.
pub const TARGET: &str = "i686-unknown-linux-gnu";
/// Name of the driver in reports.
pub const DRIVER: &str = "lavapipe-i386";

/// Folder of the unpacked system.
pub fn system() -> PathBuf {
    store().join("i386")
}

/// Lavapipe for 32-bit programs.
///
/// # Errors
///
/// It is not unpacked; the message names the command that does.
pub fn lavapipe() -> Result<Driver, String> {
    let manifest = system().join("icd.json");
    if !manifest.is_file() {
        return Err("lavapipe for i386 is not unpacked; `cargo xtask test --i686` does it".into());
    }
    let driver = Driver {
        name: DRIVER.into(),
        ..Driver::of_manifest(&manifest)
    };
    Ok(in_system(driver))
}

/// A driver for 32-bit programs, which start with the dynamic linker and the libraries of the unpacked system.
pub fn in_system(driver: Driver) -> Driver {
    Driver {
        libraries: ["usr/lib", "lib"].map(|folder| libraries(folder.as_ref())).to_vec(),
        interpreter: Some(system().join("lib/ld-linux.so.2")),
        ..driver
    }
}

/// A folder of libraries of the unpacked system.
fn libraries(folder: &Path) -> PathBuf {
    system().join(folder).join("i386-linux-gnu")
}
