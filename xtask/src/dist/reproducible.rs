//! Builds that do not depend on the machine or the folder.

use crate::toolchain;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::{process, root};

/// The folder of the source in debug information and panic messages.
const SOURCE: &str = "/usr/src/vkabort";

/// Flags of rustc that replace the paths of this machine, for a build of the sources in `root` in the folder `folder`.
///
/// # Errors
///
/// The compiler cannot be started, or a path is not UTF-8.
pub fn flags(root: &Path, folder: &Path) -> Result<Vec<String>> {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let (library, library_name) = toolchain::library_source()?;
    // The last prefix that matches counts.
    let prefixes = [
        (root.to_path_buf(), SOURCE.to_owned()),
        (folder.to_path_buf(), format!("{SOURCE}/target")),
        (home.join("registry/src"), "/usr/src/crates".into()),
        (library, library_name),
    ];
    let flag = |(from, to): (PathBuf, String)| {
        let from = from.to_str().context("a path of a build is not UTF-8")?;
        Ok(format!("--remap-path-prefix={from}={to}"))
    };
    prefixes.into_iter().map(flag).collect()
}

/// Copies the sources of the repository, committed or not, into a new folder.
///
/// # Errors
///
/// A file cannot be read or written.
pub fn copy_sources(to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let script =
        r#"git ls-files --cached --others --exclude-standard -z | tar -c --null --files-from=- | tar -x -C "$0""#;
    process::output(Command::new("sh").args(["-c", script]).arg(to).current_dir(root())).map(drop)
}

/// Fails unless both files have the same bytes.
///
/// # Errors
///
/// They differ, or cannot be read.
pub fn compare(first: &Path, second: &Path) -> Result<()> {
    ensure!(
        fs::read(first)? == fs::read(second)?,
        "{} and {} differ",
        first.display(),
        second.display()
    );
    Ok(())
}
