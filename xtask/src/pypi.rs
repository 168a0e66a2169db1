//! Downloads packages from PyPI.

use crate::debian;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::{process, store};

/// Downloads the wheel of `requirement` (`name` or `name==version`) into `folder` and extracts it there. Replaces the
/// folder. Returns the path of the wheel.
///
/// # Errors
/// There is no pip and it cannot be installed, or the download fails.
pub fn unpack(requirement: &str, folder: &Path, purpose: &str) -> Result<PathBuf> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    process::output(pip("download", purpose)?.args([requirement, "--dest"]).arg(folder))?;
    let wheel = fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.path())
        .next()
        .with_context(|| format!("pip did not download a wheel of {requirement}"))?;
    let mut extract = Command::new("python3");
    process::output(extract.args(["-m", "zipfile", "--extract"]).args([&wheel, folder]))?;
    Ok(wheel)
}

/// Installs the wheel of `requirement` (`name==version`) into a folder of `.vkabort/`, unless it is there. Returns the
/// folder; its programs are in `bin`.
///
/// # Errors
/// As [`unpack`].
pub fn install(requirement: &str, purpose: &str) -> Result<PathBuf> {
    let folder = store().join("pypi").join(requirement.replace("==", "-"));
    if folder.is_dir() {
        return Ok(folder);
    }
    // Installed beside its place and moved there when complete, so that an interrupted run leaves nothing half done.
    let fresh = store().join("pypi/new");
    let _ = fs::remove_dir_all(&fresh);
    let mut pip = pip("install", purpose)?;
    process::output(pip.args(["--no-compile", requirement, "--target"]).arg(&fresh))?;
    fs::rename(&fresh, &folder)?;
    println!("{requirement}: installed into {}", folder.display());
    Ok(folder)
}

/// A virtual environment in `.vkabort/NAME` with these requirements (`name==version`) and their dependencies, created unless it is there
/// for the same ones. Returns its folder.
///
/// # Errors
/// Python cannot create one, or pip cannot download a package.
pub fn environment(name: &str, requirements: &[&str], purpose: &str) -> Result<PathBuf> {
    let folder = store().join(name);
    let list = requirements.join("\n");
    let done = folder.join("requirements.txt");
    if fs::read_to_string(&done).is_ok_and(|old| old == list) {
        return Ok(folder);
    }
    // A virtual environment cannot be moved; the list is written last.
    let _ = fs::remove_dir_all(&folder);
    if process::output(Command::new("python3").args(["-m", "venv"]).arg(&folder)).is_err() {
        debian::install(&["python3-venv"], purpose)?;
        process::output(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    println!("Installing {} into {}.", requirements.join(", "), folder.display());
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "install",
        "--only-binary=:all:",
    ]);
    process::output(pip.args(requirements))?;
    fs::write(done, list)?;
    Ok(folder)
}

/// A command of pip for single wheels. Installs pip if it is missing.
fn pip(command: &str, purpose: &str) -> Result<Command> {
    if process::output(Command::new("python3").args(["-m", "pip", "--version"])).is_err() {
        debian::install(&["python3-pip"], purpose)?;
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--disable-pip-version-check", "--quiet", command])
        .args(["--no-deps", "--only-binary=:all:"]);
    Ok(pip)
}
