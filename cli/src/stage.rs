//! The environment in which a program runs under the layer, without an installation.
//!
//! The stage offers the layer as an implicit one, from a private folder, and sets the variable that switches it on.
//! Requesting the layer by name (`VK_INSTANCE_LAYERS`) works too, but then the loader warns about it through the
//! program's own debug messenger.

use crate::failure::{Failure, Result};
use crate::{locate, system};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use vkabort_manifest::{DISABLE, ENABLE, Kind, LAYER};

/// A private folder with a manifest of the layer. Dropping the stage removes the folder.
pub struct Stage {
    folder: TempDir,
}

impl Stage {
    /// Creates the folder, with a manifest that names `library`, and one for the library of 32-bit programs if there is one.
    ///
    /// # Errors
    ///
    /// The folder or the manifest cannot be written, or the library's path is not UTF-8.
    pub fn new(library: &Path) -> Result<Self> {
        let base = env::temp_dir();
        // For this user only: the layer's log in it may contain private data.
        let folder = system::set_access(tempfile::Builder::new().prefix("vkabort-"), false)
            .tempdir_in(&base)
            .map_err(|error| Failure::path(&base, "written", &error))?;
        let manifests = folder.path().join("vulkan").join(Kind::Implicit.folder());
        for library in [library.to_path_buf()].into_iter().chain(locate::library_32(library)) {
            vkabort_manifest::write(Kind::Implicit, LAYER, &library, &manifests)
                .map_err(|error| Failure::path(&manifests, "written", &error))?;
        }
        Ok(Self { folder })
    }

    /// Path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes the loader of `command` find the layer and switch it on.
    pub fn prepare(&self, command: &mut Command) {
        let (name, list) = system::search_variable(self.folder.path());
        command.env(name, list).env(ENABLE, "1").env_remove(DISABLE);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_folder_is_for_this_user_only() {
        let stage = Stage::new(Path::new("/layer.so")).expect("a stage");
        let folder = std::fs::metadata(stage.folder.path()).expect("a folder");
        assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    }
}
