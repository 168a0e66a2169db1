//! The packages of this machine's architecture, in a new Debian with a C compiler.

use super::root::{REPORT, Root, shown};
use crate::dist::package::Packed;
use crate::dist::platform::Platform;
use crate::{apt_source, debian};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::process;

/// Packages that running Vulkan programs and compiling the examples need.
const PACKAGES: &str = "libvulkan1,mesa-vulkan-drivers,libvulkan-dev,gcc,libc6-dev,make,cmake,pkg-config";
/// The same for running 32-bit programs.
const PACKAGES_32: &str = "libvulkan1:i386,mesa-vulkan-drivers:i386";

/// Builds of the crash handler: with CMake, with the shared library, and without a shared library at all.
const CRASH_HANDLERS: [(&str, &str); 3] = [
    (
        "CMake",
        "cmake -S /opt/crash-handler -B cmake && cmake --build cmake && cp cmake/crash_handler handler",
    ),
    (
        "pkg-config",
        "cc /opt/crash-handler/*.c -o handler $(pkg-config --cflags --libs vkabort-decode)",
    ),
    (
        "pkg-config --static",
        "cc -static /opt/crash-handler/*.c -o handler $(pkg-config --static --cflags --libs vkabort-decode)",
    ),
];

/// Installs, uses and removes first the packages, then the archive.
///
/// # Errors
///
/// The new Debian cannot be made, or a check fails.
pub fn check(platform: &Platform, packed: &Packed, folder: &Path) -> Result<()> {
    debian::require(
        &[("mmdebstrap", "mmdebstrap")],
        "installing the packages in a fresh Debian",
    )?;
    let root = Root {
        folder: folder.join("root"),
    };
    let mut bootstrap = Command::new("mmdebstrap");
    bootstrap.args(["--quiet", "--variant=minbase"]);
    bootstrap.arg(format!("--include={PACKAGES}"));
    if platform.target_32.is_some() {
        bootstrap.args([
            format!("--architectures={},i386", platform.debian),
            format!("--include={PACKAGES_32}"),
        ]);
    }
    // Without the security updates, which the mirrors of one architecture may have before those of another.
    bootstrap
        .arg(apt_source::codename()?)
        .arg(&root.folder)
        .arg(apt_source::mirror()?);
    process::output(&mut bootstrap)?;
    root.add_files(&packed.debian, &packed.archive)?;
    let line = |line: &str| run(&root, &[], &["sh", "-c", line]);
    line("cc /opt/c/main.c -o /opt/sum -lvulkan")?;
    if let Some(target) = platform.target_32 {
        let libraries = root.folder.join("usr/lib/i386-linux-gnu");
        root.build_example(target, &libraries, &folder.join("headers"), "sum32")?;
    }
    let try_it = || {
        Root::try_layer(|variables, words| run(&root, variables, words))?;
        if platform.target_32.is_some() {
            let line = "VKABORT_ENABLE=1 /opt/sum32 /opt/sum.spv; vkabort run /opt/sum32 /opt/sum.spv || test $? = 90";
            let shown = run(&root, &[], &["sh", "-c", &format!("({line}) 2>&1")])?;
            ensure!(
                shown.matches(REPORT).count() == 2,
                "the 32-bit example does not show the report twice:\n{shown}"
            );
        }
        for (name, build) in CRASH_HANDLERS {
            line(build).with_context(|| format!("the crash handler does not build with {name}"))?;
            let shown = line("./handler messages.bin crash.jsonl /opt/sum.spv")?;
            ensure!(
                shown.contains(REPORT),
                "built with {name}, the crash handler prints:\n{shown}"
            );
        }
        Ok(())
    };
    let remove = |command: &str| line(&format!("{command} && rm -rf /tmp/* /tmp/.[!.]*")).map(drop);
    let names = packed.debian.iter().filter_map(|file| file.file_stem()?.to_str());
    let installed = names.filter_map(|name| {
        let (name, rest) = name.split_once('_')?;
        Some(format!("{name}:{}", rest.rsplit_once('_')?.1))
    });
    let installed: Vec<String> = installed.collect();
    root.try_and_remove(
        "Debian packages",
        || line("dpkg --install /opt/*.deb").map(drop),
        try_it,
        || remove(&format!("dpkg --purge {}", installed.join(" "))),
    )?;
    root.try_and_remove(
        "archive",
        || line("tar -xzf /opt/vkabort.tar.gz && ./vkabort-*/install.sh").map(drop),
        try_it,
        || remove("/usr/local/lib/vkabort/uninstall.sh"),
    )
}

/// Runs a command line in the new Debian, in `/tmp`. Returns its output.
fn run(root: &Root, variables: &[(&str, &str)], words: &[&str]) -> Result<String> {
    let mut command = Command::new("chroot");
    command
        .arg(&root.folder)
        .args(["/usr/bin/env", "-i", "-C", "/tmp", "HOME=/tmp/home"]);
    command.args([
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
        "DEBIAN_FRONTEND=noninteractive",
        // It would be in the user's home.
        "MESA_SHADER_CACHE_DISABLE=true",
    ]);
    command.args(variables.iter().map(|(name, value)| format!("{name}={value}")));
    shown(command.args(words))
}
