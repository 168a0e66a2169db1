//! `cargo xtask dist`: a Debian package and a relocatable archive of the layer and the command, and their debug information.
//!
//! The files depend on the sources, on the versions of Rust and zig, and on `SOURCE_DATE_EPOCH` (by default the time of the
//! last commit), not on the machine or the folder.

mod build;
mod check;
mod contents;
mod deb;
mod licenses;
mod tree;

use crate::{debian, qemu, toolchain};
use anyhow::{Context, Result, bail, ensure};
use build::Built;
use contents::DOC;
use deb::Control;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tree::Tree;
use vkabort_test_kit::{process, root, target as target_folder};

/// Version of the packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Required in packages; the project has no mail address.
const MAINTAINER: &str = "vkabort authors <authors@vkabort.invalid>";
/// Largest size of the layer's library, in bytes.
const MAX_LAYER_SIZE: u64 = 2 << 20;

/// A target that packages are made for.
struct Platform {
    target: String,
    /// Debian's name of the architecture.
    debian: &'static str,
    /// Words before a command line that runs it on this machine.
    runner: Vec<String>,
}

impl Platform {
    fn of(target: &str) -> Result<Self> {
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

/// Builds the packages into `target/packages`, for this machine unless a target is named. With `check`, builds them twice, and
/// installs, uses and removes them in a fresh Debian.
///
/// # Errors
///
/// A download, a build or a check fails.
pub fn dist(target: Option<&str>, check: bool) -> Result<()> {
    for (program, package) in [("objdump", "binutils"), ("lintian", "lintian")] {
        if !process::is_on_path(program) {
            debian::install(&[package], "making packages")?;
        }
    }
    let target = target.map_or_else(toolchain::host, |target| Ok(target.to_owned()))?;
    let platform = Platform::of(&target)?;
    let out = target_folder().join("packages");
    let built = build::build(&root(), &target, &target_folder().join("dist-build"))?;
    let files = pack(&platform, &built, &out)?;
    for (name, program) in [("layer", &built.library), ("command", &built.command)] {
        println!("{name}: {} KiB", fs::metadata(&program.path)?.len() / 1024);
    }
    println!("needs glibc {}", built.glibc);
    for file in &files {
        println!("{} ({} KiB)", file.display(), fs::metadata(file)?.len() / 1024);
    }
    if check {
        check::check(&platform, &files)?;
    }
    Ok(())
}

/// Packs what was built into `out`. Returns the files: two packages, two archives, `SHA256SUMS`.
fn pack(platform: &Platform, built: &Built, out: &Path) -> Result<Vec<PathBuf>> {
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
