//! The packages of this machine's architecture, in a new Debian with a C compiler.

use super::root::{REPORT, Root, shown};
use crate::debian;
use crate::dist::package::Packed;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;
use vkabort_test_kit::process;

/// Packages that running Vulkan programs and compiling the examples need.
const PACKAGES: &str = "libvulkan1,mesa-vulkan-drivers,libvulkan-dev,gcc,libc6-dev,make,cmake,pkg-config";

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
pub fn check(packed: &Packed, folder: &Path) -> Result<()> {
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
    process::output(bootstrap.arg(debian::codename()?).arg(&root.folder))?;
    root.add_files(&packed.debian, &packed.archive)?;
    let line = |line: &str| run(&root, &[], &["sh", "-c", line]);
    line("cc /opt/c/main.c -o /opt/sum -lvulkan")?;
    let try_it = || {
        Root::try_layer(|variables, words| run(&root, variables, words))?;
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
    root.try_and_remove(
        "Debian packages",
        || line("dpkg --install /opt/*.deb").map(drop),
        try_it,
        || {
            remove(
                "dpkg --purge vkabort libvkabort-decode-dev libvkabort-decode1 vkabort-dbgsym libvkabort-decode1-dbgsym",
            )
        },
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
