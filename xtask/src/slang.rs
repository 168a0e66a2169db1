//! Downloads the Slang compiler from the PyPI package slangpy.

use crate::pypi;
use anyhow::Result;
use std::fs;
use vkabort_test_kit::slang::{file_name, find, folder};

/// Brings it, if it is not there.
///
/// # Errors
///
/// It could not be brought.
pub fn bring() -> Result<()> {
    if find().is_ok() {
        return Ok(());
    }
    let fresh = folder().with_extension("new");
    let _ = fs::remove_dir_all(folder());
    let wheel = pypi::unpack("slangpy", &fresh, "bringing the Slang compiler")?;
    // Only the compiler and what it loads: the package's own libraries are large, and not used.
    for entry in fs::read_dir(fresh.join("slangpy"))?.flatten() {
        let name = file_name(&entry.path());
        if name.starts_with("libslang") && name.contains(".so") {
            fs::rename(entry.path(), fresh.join(name))?;
        }
    }
    let version = file_name(&wheel).split('-').nth(1).unwrap_or_default().to_owned();
    for entry in fs::read_dir(&fresh)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if !file_name(&path).starts_with("libslang") {
            fs::remove_file(&path)?;
        }
    }
    fs::write(fresh.join("version"), &version)?;
    fs::rename(&fresh, folder())?;
    println!("slang: unpacked from slangpy {version} into {}", folder().display());
    Ok(())
}
