//! The packages of the built files: Debian packages and an archive, with their debug information.

use super::build::Built;
use super::contents::{self, VERSION};
use super::deb_packages;
use super::platform::Platform;
use super::tree::Tree;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::decoder::{self, Layout};
use vkabort_test_kit::{process, root};

/// Largest size of the layer's library, in bytes: more than the code takes (3.8 MB), and less than it has with debug information (32 MB)
/// or a large dependency by mistake.
const MAX_LAYER_SIZE: u64 = 5 << 20;

/// The packages and archives of a build.
pub struct Packed {
    /// The Debian packages, first those that are installed together.
    pub debian: Vec<PathBuf>,
    /// The relocatable archive.
    pub archive: PathBuf,
    /// All files: packages, archives and their checksums.
    pub files: Vec<PathBuf>,
}

/// Packs the built files into `out`, with files of the time `epoch`, in seconds since 1970.
///
/// # Errors
///
/// The layer is too large, a file cannot be written, or `lintian` finds a fault.
pub fn pack(platform: &Platform, built: &Built, epoch: u64, out: &Path) -> Result<Packed> {
    for library in [&built.library].into_iter().chain(&built.library_32) {
        let size = fs::metadata(&library.path)?.len();
        ensure!(
            size <= MAX_LAYER_SIZE,
            "{} has {size} bytes, more than the limit of {MAX_LAYER_SIZE}",
            library.path.display()
        );
    }
    let stage = out.join("stage");
    fs::create_dir_all(out)?;
    let runner: Vec<&str> = platform.runner.iter().map(String::as_str).collect();

    let top = format!("vkabort-{VERSION}-{}", platform.target);
    let archive = Tree::new(stage.join("archive"))?;
    contents::write(&archive, built, &platform.target, &runner)?;
    let debian = deb_packages::build(platform, built, &archive, epoch, &stage, out)?;
    if let Some(library) = &built.library_32 {
        contents::write_layer_32(&archive, library)?;
    }
    decoder::install(
        &built.decoder.path,
        &built.decoder_archive,
        Layout::RELOCATABLE,
        &archive.root,
    )?;
    archive.write_program("install.sh", include_str!("install.sh"))?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        archive.copy(license, &root().join(license))?;
    }
    archive.pack(&top, epoch, &out.join(format!("{top}.tar.gz")))?;
    let debug = Tree::new(stage.join("debug"))?;
    for program in built.programs() {
        debug.copy(&format!("usr/lib/debug/{}", program.debug_name()), &program.debug)?;
    }
    debug.pack(&format!("{top}-debug"), epoch, &out.join(format!("{top}-debug.tar.gz")))?;
    fs::remove_dir_all(&stage)?;

    let mut lintian = Command::new("lintian");
    lintian
        .args(["--fail-on", "error,warning", "--display-info", "--allow-root"])
        .args(&debian);
    process::run(lintian.current_dir(out))?;
    let mut names = debian.clone();
    names.extend([format!("{top}.tar.gz"), format!("{top}-debug.tar.gz")]);
    let sums = process::output(Command::new("sha256sum").args(&names).current_dir(out))?;
    let list = format!("SHA256SUMS-{}", platform.target);
    fs::write(out.join(&list), sums)?;
    names.push(list);
    let at = |name: &String| out.join(name);
    Ok(Packed {
        debian: debian.iter().map(at).collect(),
        archive: out.join(format!("{top}.tar.gz")),
        files: names.iter().map(at).collect(),
    })
}

/// The time of all packed files, in seconds since 1970.
///
/// # Errors
///
/// `SOURCE_DATE_EPOCH` is not a number, or is missing where git does not know the last commit.
pub fn epoch() -> Result<u64> {
    if let Ok(value) = std::env::var("SOURCE_DATE_EPOCH") {
        return value.parse().context("SOURCE_DATE_EPOCH is not a number of seconds");
    }
    let mut git = Command::new("git");
    let time = process::output(git.args(["log", "-1", "--format=%ct"]).current_dir(root()))
        .context("set SOURCE_DATE_EPOCH: the time of the last commit is not known")?;
    Ok(time.trim().parse()?)
}
