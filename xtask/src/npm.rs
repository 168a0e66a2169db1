//! Downloads packages of npm.

use crate::debian;
use anyhow::Result;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use vkabort_test_kit::{process, store};

/// Debian's packages that run and install such packages, by their programs.
const PROGRAMS: &[(&str, &str)] = &[("node", "nodejs"), ("npm", "npm")];

/// Installs a package of npm with its dependencies into a folder of `.vkabort/`, unless it is there. No script of a package runs.
/// Returns the package's folder.
///
/// # Errors
/// There is no npm and it cannot be installed, or the download fails.
pub fn install(name: &str, version: &str, purpose: &str) -> Result<PathBuf> {
    debian::require(PROGRAMS, purpose)?;
    let folder = store().join("npm").join(format!("{name}-{version}"));
    let package = folder.join("node_modules").join(name);
    if folder.is_dir() {
        return Ok(package);
    }
    // Installed beside its place and moved there when complete, so that an interrupted run leaves nothing half done.
    let fresh = store().join("npm/new");
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir_all(&fresh)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"])
        .arg(&fresh)
        .arg(format!("{name}@{version}"));
    process::output(&mut npm)?;
    fs::rename(&fresh, &folder)?;
    println!("{name}@{version}: installed into {}", folder.display());
    Ok(package)
}
