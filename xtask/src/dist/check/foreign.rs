//! The packages of another architecture, in a folder with Debian's packages for it. qemu runs one program at a time there, so
//! this machine's dpkg and shell install, and programs for the other architecture are cross-compiled.

use super::root::{REPORT, Root, shown};
use crate::dist::package::Packed;
use crate::dist::platform::Platform;
use crate::{debian, qemu, zig};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::process;

/// The command that runs programs, inside of the folder.
const RUNNER: &str = "/usr/bin/qemu-static";

/// Installs, uses and removes first the packages, then the archive.
///
/// # Errors
///
/// The folder cannot be made, or a check fails.
pub fn check(platform: &Platform, packed: &Packed, folder: &Path) -> Result<()> {
    debian::require(
        &[("pkg-config", "pkg-config"), ("cc", "gcc")],
        "compiling the crash handler",
    )?;
    let root = Root {
        folder: folder.join("root"),
    };
    let mut copy = Command::new("cp");
    process::output(copy.arg("--archive").arg(qemu::system()).arg(&root.folder))?;
    let qemu = platform.runner.first().context("no command runs the programs")?;
    fs::copy(qemu, root.folder.join(&RUNNER[1..]))?;
    for folder in [
        "tmp",
        "var/lib/dpkg/info",
        "var/lib/dpkg/updates",
        "var/lib/dpkg/triggers",
    ] {
        fs::create_dir_all(root.folder.join(folder))?;
    }
    fs::write(root.folder.join("var/lib/dpkg/status"), "")?;
    fs::write(root.folder.join("var/lib/dpkg/arch"), format!("{}\n", platform.debian))?;
    root.add_files(&packed.debian, &packed.archive)?;
    let libraries = root.folder.join("usr").join(platform.libraries);
    root.build_example(&platform.target, &libraries, &folder.join("headers"), "sum")?;
    let try_it = |pkg_config: &Path| {
        Root::try_layer(|variables, words| run(&root, variables, words))?;
        build_crash_handler(platform, &root, pkg_config)?;
        let words = ["/tmp/handler", "messages.bin", "/tmp/crash.jsonl", "/opt/sum.spv"];
        // The cache of the dynamic linker is not written there.
        let shown = run(&root, &[("LD_LIBRARY_PATH", "/usr/local/lib")], &words)?;
        ensure!(shown.contains(REPORT), "the crash handler prints:\n{shown}");
        for file in ["messages.bin", "tmp/handler", "tmp/crash.jsonl"] {
            fs::remove_file(root.folder.join(file))?;
        }
        Ok(())
    };
    let dpkg = |action: &str, words: &[&str]| {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", root.folder.display()));
        // dpkg did not install what they depend on.
        dpkg.args(["--force-depends", action]).args(words);
        shown(dpkg.current_dir(root.folder.join("opt"))).map(drop)
    };
    let names = packed.debian.iter().filter_map(|file| file.file_name()?.to_str());
    let names: Vec<&str> = names.collect();
    let packages: Vec<&str> = names.iter().filter_map(|name| Some(name.split_once('_')?.0)).collect();
    root.try_and_remove(
        "Debian packages",
        || dpkg("--install", &names),
        || try_it(&libraries.join("pkgconfig")),
        || dpkg("--purge", &packages),
    )?;
    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked)?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--strip-components=1", "--directory"]);
    process::output(tar.arg(&unpacked).arg("--file").arg(&packed.archive))?;
    let prefix = root.folder.join("usr/local");
    root.try_and_remove(
        "archive",
        || shown(Command::new(unpacked.join("install.sh")).arg(&prefix)).map(drop),
        || try_it(&prefix.join("lib/pkgconfig")),
        || shown(&mut Command::new(prefix.join("lib/vkabort/uninstall.sh"))).map(drop),
    )
}

/// Compiles the crash handler with the flags of pkg-config, of which `files` is the folder.
fn build_crash_handler(platform: &Platform, root: &Root, files: &Path) -> Result<()> {
    let mut flags = Command::new("pkg-config");
    flags.args(["--cflags", "--libs", "vkabort-decode"]);
    flags.env("PKG_CONFIG_LIBDIR", files);
    // A path in the archive's file is relative to it already.
    if files.starts_with(root.folder.join("usr/lib")) {
        flags.env("PKG_CONFIG_SYSROOT_DIR", &root.folder);
    }
    for kind in ["CFLAGS", "LIBS"] {
        flags.env(format!("PKG_CONFIG_ALLOW_SYSTEM_{kind}"), "1");
    }
    let flags = process::output(&mut flags)?;
    let source = root.folder.join("opt/crash-handler");
    let mut cc = zig::cc(&platform.target)?;
    cc.args(["main.c", "crash_handler.c"].map(|file| source.join(file)));
    cc.args(flags.split_whitespace());
    process::output(cc.arg("-o").arg(root.folder.join("tmp/handler"))).map(drop)
}

/// Runs a program of the folder, in its root.
fn run(root: &Root, variables: &[(&str, &str)], words: &[&str]) -> Result<String> {
    let [program, arguments @ ..] = words else {
        return Ok(String::new());
    };
    let folders = ["", "/usr/bin/", "/usr/local/bin/"];
    let mut paths = folders.iter().map(|folder| format!("{folder}{program}"));
    let is_there = |path: &String| path.starts_with('/') && root.folder.join(&path[1..]).is_file();
    let path = paths
        .find(is_there)
        .with_context(|| format!("{program} is not installed"))?;
    let mut command = Command::new("chroot");
    command.arg(&root.folder).args([RUNNER, &path]).args(arguments);
    command
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command
        .env("HOME", "/tmp/home")
        .env("MESA_SHADER_CACHE_DISABLE", "true");
    // The only driver that runs without a GPU.
    command.env("VK_DRIVER_FILES", "/usr/share/vulkan/icd.d/lvp_icd.aarch64.json");
    shown(command.envs(variables.iter().copied()))
}
