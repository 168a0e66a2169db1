//! The files that `vkabort-bundle` carries.

use crate::archive::Carried;
use crate::layer::{self, LIBRARY};
use crate::{process, root, spirv_tools};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tests' own driver, where it is unpacked.
pub const DRIVER: &str = "libvkabort_driver.so";
/// The command `vkabort`, where it is unpacked.
pub const COMMAND: &str = "vkabort";

/// The folder of SPIRV-Tools' programs, where they are unpacked.
pub const SPIRV_TOOLS: &str = "spirv-tools";

/// The files that the program carries, as they were built.
pub struct Files {
    /// The layer.
    pub layer: PathBuf,
    /// The test driver.
    pub driver: PathBuf,
    /// The command `vkabort`.
    pub command: PathBuf,
}

/// Builds what the program carries.
///
/// # Errors
///
/// A build fails.
pub fn files() -> Result<Files> {
    Ok(Files {
        layer: layer::build()?.library,
        driver: layer::build_driver_library()?,
        command: layer::build_command()?,
    })
}

impl Files {
    /// Their contents, and what stands in the repository.
    ///
    /// # Errors
    ///
    /// One cannot be read.
    pub fn carried(&self) -> Result<Vec<Carried>> {
        let mut carried = Vec::new();
        for (name, path, program) in [
            (LIBRARY, &self.layer, false),
            (DRIVER, &self.driver, false),
            (COMMAND, &self.command, true),
        ] {
            carried.push(Carried {
                path: name.into(),
                bytes: fs::read(path).with_context(|| format!("cannot read {}", path.display()))?,
                program,
            });
        }
        for program in spirv_tools::PROGRAMS {
            let path = spirv_tools::find(program).map_err(anyhow::Error::msg)?;
            carried.push(Carried {
                path: format!("{SPIRV_TOOLS}/{program}"),
                bytes: fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?,
                program: true,
            });
        }
        carried.push(Carried {
            path: "about".into(),
            bytes: about().into_bytes(),
            program: false,
        });
        for (folder, to) in [("tests/shaders", "files/shaders"), ("tests/reports", "files/reports")] {
            tree(&root().join(folder), to, &mut carried)?;
        }
        Ok(carried)
    }
}

/// Of which version and commit the program is.
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

/// Every file below a folder, in the order of their names.
fn tree(folder: &Path, to: &str, carried: &mut Vec<Carried>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let to = format!("{to}/{name}");
        if path.is_dir() {
            tree(&path, &to, carried)?;
        } else {
            carried.push(Carried {
                path: to,
                bytes: fs::read(&path)?,
                program: false,
            });
        }
    }
    Ok(())
}
