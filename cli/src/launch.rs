//! The environment in which a program runs under the layer, without anything being installed.
//!
//! The layer is offered as an implicit one, from a folder of this process's own, and switched on by its variable. Asking
//! for it by name (`VK_INSTANCE_LAYERS`) would do as well, but makes the loader warn about it through the program's own
//! debug messenger.

use crate::failure::{Failure, Result};
use crate::locate::{Kind, MANIFEST};
use crate::manifest::{self, DISABLE, ENABLE};
use std::env;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of this process's own with a manifest of the layer; it goes when this is dropped.
pub struct Stage {
    folder: PathBuf,
}

impl Stage {
    /// Makes the folder, with a manifest that names `library`.
    pub fn new(library: &Path) -> Result<Self> {
        let stage = Self {
            folder: private_folder()?,
        };
        let text = manifest::naming(Kind::Implicit, library)?;
        let folder = stage.folder.join("vulkan").join(Kind::Implicit.folder());
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join(MANIFEST), text))
            .map_err(|error| Failure::file(&folder.display().to_string(), "written", &error))?;
        Ok(stage)
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Lets `command` find the layer and switches it on.
    pub fn prepare(&self, command: &mut Command) {
        // Of the lists that every loader searches this one comes before the places where the layer may be installed,
        // perhaps in another version, and few programs care for it.
        let others = env::var_os("XDG_CONFIG_DIRS").filter(|list| !list.is_empty());
        let mut list = self.folder.clone().into_os_string();
        list.push(":");
        list.push(others.unwrap_or_else(|| "/etc/xdg".into()));
        command
            .env("XDG_CONFIG_DIRS", list)
            .env(ENABLE, "1")
            .env_remove(DISABLE);
    }
}

/// A new folder that only this user can look into: somebody else's manifest must not get in.
fn private_folder() -> Result<PathBuf> {
    let base = env::temp_dir();
    for attempt in 0..1000 {
        let folder = base.join(format!("vkabort-run-{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::file(&folder.display().to_string(), "made", &error)),
        }
    }
    Err(Failure::input(format!("{}: no free name for a folder", base.display())))
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It is in the folder for temporary files: what cannot be removed now goes some day.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
