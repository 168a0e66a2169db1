//! Scratch folders: private to this user, and removed on drop.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
pub use tempfile::TempDir;

/// Creates a scratch folder in another folder, which it creates too.
///
/// # Errors
///
/// The folder cannot be created.
pub fn folder_in(base: &Path) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("scratch-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    fs::create_dir_all(base)
        .and_then(|()| builder.tempdir_in(base))
        .with_context(|| format!("cannot create a folder in {}", base.display()))
}
