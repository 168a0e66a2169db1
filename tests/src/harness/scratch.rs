//! Folders of processes.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers the scratch folders of this process.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A folder of one process, gone with it.
pub struct Scratch(
    /// Its path.
    pub PathBuf,
);

impl Scratch {
    /// A fresh folder below the target directory.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn new() -> Result<Self> {
        Self::below(&vkabort_test_kit::target().join("vkabort/e2e"))
    }

    /// A fresh folder below another.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn below(base: &Path) -> Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("{}-{number}", std::process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
