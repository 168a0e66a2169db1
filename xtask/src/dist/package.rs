//! The packages of what was built: a Debian package and an archive, each with one of debug information.

use super::build::Built;
use super::contents::{self, DOC, VERSION};
use super::deb::{self, Control, MAINTAINER};
use super::tree::Tree;
use crate::{qemu, toolchain};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_test_kit::{process, root};

/// Largest size of the layer's library, in bytes.
const MAX_LAYER_SIZE: u64 = 2 << 20;

/// A target that packages are made for.
pub struct Platform {
    /// Rust's name.
    pub target: String,
    /// Debian's name of the architecture.
    pub debian: &'static str,
    /// Words before a command line that runs it on this machine.
    pub runner: Vec<String>,
}

impl Platform {
    /// The platform of a target.
    ///
    /// # Errors
    ///
    /// No packages are made for the target, or qemu cannot be provided.
    pub fn of(target: &str) -> Result<Self> {
        let debian = match target {
            "x86_64-unknown-linux-gnu" => "amd64",
            "aarch64-unknown-linux-gnu" => "arm64",
            _ => bail!("no packages for {target}; use x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu"),
        };
        let runner = match toolchain::host()? == target {
            true => Vec::new(),
            false => qemu::runner()?,
        };
        Ok(Self {
            target: target.into(),
            debian,
            runner,
        })
    }
}

/// Packs what was built into `out`. Returns the files: two packages, two archives, `SHA256SUMS`.
///
/// # Errors
///
/// The layer is too large, a file cannot be written, or `lintian` finds a fault.
pub fn pack(platform: &Platform, built: &Built, out: &Path) -> Result<Vec<PathBuf>> {
    let size = fs::metadata(&built.library.path)?.len();
    ensure!(
        size <= MAX_LAYER_SIZE,
        "the layer's library has {size} bytes, more than the limit of {MAX_LAYER_SIZE}"
    );
    let epoch = epoch()?;
    let stage = out.join("stage");
    fs::create_dir_all(out)?;
    let runner: Vec<&str> = platform.runner.iter().map(String::as_str).collect();

    let top = format!("vkabort-{VERSION}-{}", platform.target);
    let archive = Tree::new(stage.join("archive"))?;
    contents::write(&archive, built, &platform.target, &runner)?;
    let package = Tree::new(stage.join("package"))?;
    process::output(
        Command::new("cp")
            .args(["--recursive", "--no-target-directory"])
            .args([&archive.root, &package.root.join("usr")]),
    )?;
    // Debian's folder for completions of packages; the other one is the administrator's there.
    let zsh = package.root.join("usr/share/zsh");
    fs::rename(zsh.join("site-functions"), zsh.join("vendor-completions"))?;
    archive.write_program("install.sh", include_str!("install.sh"))?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        archive.copy(license, &root().join(license))?;
    }
    archive.pack(&top, epoch, &out.join(format!("{top}.tar.gz")))?;

    let debug = Tree::new(stage.join("debug"))?;
    for program in [&built.library, &built.command] {
        debug.copy(&format!("usr/lib/debug/{}", program.debug_name()), &program.debug)?;
    }
    debug.pack(&format!("{top}-debug"), epoch, &out.join(format!("{top}-debug.tar.gz")))?;

    package.write(&format!("usr/{DOC}/changelog"), debian_changelog(epoch)?)?;
    package.compress(&format!("usr/{DOC}/changelog"))?;
    let main = Control {
        package: "vkabort",
        architecture: platform.debian,
        fields: &format!(
            "Section: devel\nPriority: optional\nDepends: libc6 (>= {})\nRecommends: libvulkan1\n",
            built.glibc
        ),
        description: "Vulkan layer that makes shader aborts work on every driver\n \
                      Shaders that call abortEXT end with a message: vkabort is a Vulkan layer that\n \
                      adds VK_KHR_shader_abort, VK_KHR_device_fault and VK_KHR_shader_constant_data\n \
                      to drivers that lack them, and reports every abort with its values, source\n \
                      line and invocation.\n .\n \
                      The layer is off until VKABORT_ENABLE=1 is in a program's environment. The\n \
                      command vkabort runs programs under the layer, checks shaders, and decodes\n \
                      messages.",
    };
    deb::build(&package, &main, epoch, out)?;
    debug.link("usr/share/doc/vkabort-dbgsym", "vkabort")?;
    let symbols = Control {
        package: "vkabort-dbgsym",
        architecture: platform.debian,
        fields: &format!(
            "Section: debug\nPriority: optional\nAuto-Built-Package: debug-symbols\nDepends: vkabort (= {VERSION})\n\
             Build-Ids: {}\n",
            [&built.library, &built.command]
                .map(|program| program.build_id.as_str())
                .join(" ")
        ),
        description: "debug symbols for vkabort",
    };
    deb::build(&debug, &symbols, epoch, out)?;
    fs::remove_dir_all(&stage)?;

    let names = [
        deb::file("vkabort", platform.debian),
        deb::file("vkabort-dbgsym", platform.debian),
        format!("{top}.tar.gz"),
        format!("{top}-debug.tar.gz"),
    ];
    let mut lintian = Command::new("lintian");
    lintian
        .args(["--fail-on", "error,warning", "--display-info", "--allow-root"])
        .args(&names[..2]);
    process::run(lintian.current_dir(out))?;
    let sums = process::output(Command::new("sha256sum").args(&names).current_dir(out))?;
    let list = format!("SHA256SUMS-{}", platform.target);
    fs::write(out.join(&list), sums)?;
    Ok(names.into_iter().chain([list]).map(|name| out.join(name)).collect())
}

/// Debian's own changelog: what has changed is in that of the project.
fn debian_changelog(epoch: u64) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "--rfc-email", &format!("--date=@{epoch}")])
        .env("LC_ALL", "C");
    Ok(format!(
        "vkabort ({VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- {MAINTAINER}  {}",
        process::output(&mut date)?
    ))
}

/// The time of all packed files, in seconds since 1970.
fn epoch() -> Result<u64> {
    if let Ok(value) = std::env::var("SOURCE_DATE_EPOCH") {
        return value.parse().context("SOURCE_DATE_EPOCH is not a number of seconds");
    }
    let mut git = Command::new("git");
    let time = process::output(git.args(["log", "-1", "--format=%ct"]).current_dir(root()))
        .context("set SOURCE_DATE_EPOCH: the time of the last commit is not known")?;
    Ok(time.trim().parse()?)
}
