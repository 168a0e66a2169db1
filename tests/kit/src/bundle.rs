//! The files that `vkabort-bundle` carries.

use crate::archive::CarriedFile;
use crate::cargo::{self, Profile};
use crate::layer::LIBRARY_FILE;
use crate::{process, root, spirv_tools};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of the test driver among the unpacked files.
pub const DRIVER: &str = "libvkabort_driver.so";
/// Path of the command `vkabort` among the unpacked files.
pub const COMMAND: &str = "vkabort";
/// Folder of the SPIRV-Tools programs among the unpacked files.
pub const SPIRV_TOOLS: &str = "spirv-tools";

/// Built files that the program carries.
pub struct Files {
    /// The layer.
    pub layer: PathBuf,
    /// The test driver.
    pub driver: PathBuf,
    /// The command `vkabort`.
    pub command: PathBuf,
}

/// Builds the files that the program carries.
///
/// # Errors
///
/// A build fails.
pub fn files(profile: Profile) -> Result<Files> {
    Ok(Files {
        layer: cargo::build_layer(profile)?.library,
        driver: cargo::build_test_driver_library(profile)?,
        command: cargo::build_command(profile)?,
    })
}

impl Files {
    /// Their contents, with manifests, shaders and expected reports.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn carried(&self) -> Result<Vec<CarriedFile>> {
        let mut carried = Vec::new();
        for (name, path, is_program) in [
            (LIBRARY_FILE, &self.layer, false),
            (DRIVER, &self.driver, false),
            (COMMAND, &self.command, true),
        ] {
            carried.push(CarriedFile {
                path: name.into(),
                bytes: fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
                is_program,
            });
        }
        for program in spirv_tools::PROGRAMS {
            let path = spirv_tools::find(program).map_err(anyhow::Error::msg)?;
            carried.push(CarriedFile {
                path: format!("{SPIRV_TOOLS}/{program}"),
                bytes: fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?,
                is_program: true,
            });
        }
        carried.push(CarriedFile {
            path: "about".into(),
            bytes: about().into_bytes(),
            is_program: false,
        });
        for (folder, to) in [("tests/shaders", "files/shaders"), ("tests/reports", "files/reports")] {
            add_folder(&root().join(folder), to, &mut carried)?;
        }
        Ok(carried)
    }
}

/// Version and commit of the program.
fn about() -> String {
    let git = |words: &[&str]| process::output(Command::new("git").args(words).current_dir(root())).ok();
    let mut about = format!("vkabort {}", env!("CARGO_PKG_VERSION"));
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        about += &format!(", commit {}", commit.trim());
    }
    if git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changed| !changed.trim().is_empty()) {
        about += " and changes";
    }
    about
}

/// Adds every file below a folder, in the order of names.
fn add_folder(folder: &Path, to: &str, carried: &mut Vec<CarriedFile>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let to = format!("{to}/{name}");
        if path.is_dir() {
            add_folder(&path, &to, carried)?;
        } else {
            carried.push(CarriedFile {
                path: to,
                bytes: fs::read(&path)?,
                is_program: false,
            });
        }
    }
    Ok(())
}
