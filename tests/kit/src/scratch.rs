//! Scratch folders in Cargo's target folder.

use crate::target;
use anyhow::Result;
pub use vkabort_runner::scratch::{TempDir, folder_in};

/// Creates a scratch folder in Cargo's target folder.
///
/// # Errors
///
/// The folder cannot be created.
pub fn folder() -> Result<TempDir> {
    folder_in(&target().join("vkabort/e2e"))
}
