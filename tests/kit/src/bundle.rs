//! The files of the bundle: the program of the end-to-end tests with all that it needs on a machine without this repository.

use crate::cargo::{self, Profile};
use crate::layer::LIBRARY_FILE;
use crate::{glslang, process, root, spirv_tools};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program.
pub const PROGRAM: &str = "run";
/// The test driver.
pub const DRIVER: &str = "libvkabort_driver.so";
/// The command `vkabort`.
pub const COMMAND: &str = "vkabort";
/// Version and commit. A program beside it is in a bundle.
pub const ABOUT: &str = "about";
/// Folder of the SPIRV-Tools programs.
pub const SPIRV_TOOLS: &str = "spirv-tools";
/// Folder of the GLSL compiler.
pub const GLSLANG: &str = "glslang";
/// Folder of shaders and expected reports.
pub const FILES: &str = "files";

/// Built files of the bundle.
pub struct Built {
    /// The program of the end-to-end tests.
    pub program: PathBuf,
    /// The layer.
    pub layer: PathBuf,
    /// The test driver.
    pub driver: PathBuf,
    /// The command `vkabort`.
    pub command: PathBuf,
}

impl Built {
    /// Builds the files beside `program`.
    ///
    /// # Errors
    ///
    /// A build fails.
    pub fn new(program: &Path, profile: Profile) -> Result<Self> {
        Ok(Self {
            program: program.to_path_buf(),
            layer: cargo::build_layer(profile)?.library,
            driver: cargo::build_test_driver_library(profile)?,
            command: cargo::build_command(profile)?,
        })
    }

    /// Writes the bundle into a folder.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut files = vec![
            (self.program.clone(), PROGRAM.to_owned()),
            (self.layer.clone(), LIBRARY_FILE.to_owned()),
            (self.driver.clone(), DRIVER.to_owned()),
            (self.command.clone(), COMMAND.to_owned()),
        ];
        for program in spirv_tools::PROGRAMS {
            let found = spirv_tools::find(program).map_err(anyhow::Error::msg)?;
            files.push((found, format!("{SPIRV_TOOLS}/{program}")));
        }
        for file in glslang::FILES {
            glslang::find().map_err(anyhow::Error::msg)?;
            files.push((glslang::folder().join(file), format!("{GLSLANG}/{file}")));
        }
        for part in ["shaders", "reports"] {
            add_folder(&root().join("tests").join(part), &format!("{FILES}/{part}"), &mut files)?;
        }
        for (from, to) in files {
            let to = folder.join(to);
            fs::create_dir_all(to.parent().unwrap_or(folder))?;
            fs::copy(&from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        }
        fs::write(folder.join(ABOUT), about())?;
        Ok(())
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

/// Adds every file below a folder.
fn add_folder(folder: &Path, to: &str, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        let to = format!("{to}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        match path.is_dir() {
            true => add_folder(&path, &to, files)?,
            false => files.push((path, to)),
        }
    }
    Ok(())
}
