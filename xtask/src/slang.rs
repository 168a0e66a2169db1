//! Downloads the Slang compiler from the PyPI package slangpy.

use crate::debian;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::process;
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
    let python = |words: &[&str], folder: &Path| process::output(Command::new("python3").args(words).arg(folder));
    if process::output(Command::new("python3").args(["-m", "pip", "--version"])).is_err() {
        debian::install(&["python3-pip"], "bringing the Slang compiler")?;
    }
    let fresh = folder().with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let _ = fs::remove_dir_all(folder());
    fs::create_dir_all(&fresh)?;
    let pip = "-m pip --disable-pip-version-check --quiet download --no-deps --only-binary=:all: slangpy --dest";
    python(&pip.split(' ').collect::<Vec<_>>(), &fresh)?;
    let wheels: Vec<PathBuf> = fs::read_dir(&fresh)?.flatten().map(|entry| entry.path()).collect();
    let wheel = wheels.first().context("pip brought no slangpy")?;
    let text = wheel.display().to_string();
    python(&["-m", "zipfile", "--extract", &text], &fresh)?;
    // Only the compiler and what it loads: the package's own libraries are large, and not used.
    for entry in fs::read_dir(fresh.join("slangpy"))?.flatten() {
        let name = file_name(&entry.path());
        if name.starts_with("libslang") && name.contains(".so") {
            fs::rename(entry.path(), fresh.join(name))?;
        }
    }
    let version = file_name(wheel).split('-').nth(1).unwrap_or_default().to_owned();
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
