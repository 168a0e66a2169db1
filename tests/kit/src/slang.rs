//! Locates the Slang compiler, a library in the PyPI package slangpy.

use crate::store;
use std::fs;
use std::path::{Path, PathBuf};

/// Start of the library's file name; a version follows.
const LIBRARY: &str = "libslang-compiler.so";

/// Folder of the unpacked compiler.
pub fn folder() -> PathBuf {
    store().join("slang")
}

/// Path of the compiler's library.
///
/// # Errors
///
/// The library is not installed; the message names the command that installs it.
pub fn find() -> Result<PathBuf, String> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| file_name(path).starts_with(LIBRARY))
        .collect();
    found.sort();
    let missing = || {
        format!(
            "the Slang compiler is not in {}; `cargo xtask drivers` installs it",
            folder().display()
        )
    };
    found.pop().ok_or_else(missing)
}

/// File name of a path, as text.
pub fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
