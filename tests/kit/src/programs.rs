//! Programs that `cargo xtask test` installs.

use crate::drivers;
use anyhow::{Result, bail};
use std::path::PathBuf;

/// Path of an installed program. `None` if it is missing, with a note.
///
/// # Errors
///
/// It is missing where the tests require it.
#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
pub fn installed(name: &str) -> Result<Option<PathBuf>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        if drivers::are_required() {
            bail!("{name} is not installed: `cargo xtask test` installs it");
        }
        println!("skipped: {name} is not installed");
    }
    Ok(found)
}
