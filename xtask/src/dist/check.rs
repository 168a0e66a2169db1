//! `cargo xtask dist --check`: the packages do not depend on the folder that they are built in; installed in a fresh Debian,
//! they show the abort of the C example; removed, they leave nothing behind.

use super::build;
use super::package::{Platform, pack};
use crate::{debian, toolchain};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_manifest::ENABLE;
use vkabort_test_kit::{cargo, process, root, target as target_folder};

/// What dpkg itself writes when it installs any package.
const OF_DPKG: [&str; 3] = ["var/lib/dpkg/", "var/log/", "var/cache/"];

/// The beginning of the report of the C example.
const REPORT: &str = "shader aborted: index 4000000";

/// Checks the packages `files`.
///
/// # Errors
///
/// A check fails; the text names it.
pub(super) fn check(platform: &Platform, files: &[PathBuf]) -> Result<()> {
    let folder = target_folder().join("dist-check");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    rebuild(platform, files, &folder)?;
    if toolchain::host()? == platform.target {
        in_fresh_root(files, &folder)?;
    } else {
        println!(
            "not installed: the fresh Debian would need the kernel's support for {}",
            platform.target
        );
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// Builds a copy of the sources in another folder and compares the packages.
fn rebuild(platform: &Platform, files: &[PathBuf], folder: &Path) -> Result<()> {
    let copy = folder.join("a copy of the sources");
    fs::create_dir_all(&copy)?;
    let script =
        r#"git ls-files --cached --others --exclude-standard -z | tar -c --null --files-from=- | tar -x -C "$0""#;
    process::output(Command::new("sh").args(["-c", script]).arg(&copy).current_dir(root()))?;
    let built = build::build(&copy, &platform.target, &folder.join("build"))?;
    let again = pack(platform, &built, &folder.join("packages"))?;
    for (first, second) in files.iter().zip(&again) {
        ensure!(
            fs::read(first)? == fs::read(second)?,
            "{} and {} differ",
            first.display(),
            second.display()
        );
    }
    println!("built twice: {} equal files", files.len());
    Ok(())
}

fn in_fresh_root(files: &[PathBuf], folder: &Path) -> Result<()> {
    if !process::is_root() {
        bail!("installing the packages in a fresh Debian needs root");
    }
    for (program, package) in [("mmdebstrap", "mmdebstrap"), ("cc", "gcc")] {
        if !process::is_on_path(program) {
            debian::install(&[package], "installing the packages in a fresh Debian")?;
        }
    }
    let root = Root {
        folder: folder.join("root"),
    };
    let mut bootstrap = Command::new("mmdebstrap");
    bootstrap.args([
        "--quiet",
        "--variant=minbase",
        "--include=libvulkan1,mesa-vulkan-drivers",
    ]);
    process::output(bootstrap.arg(debian::codename()?).arg(&root.folder))?;
    build_example(&root.folder.join("opt"))?;
    let [package, _, archive, ..] = files else {
        bail!("a package is missing");
    };
    fs::copy(package, root.folder.join("opt/vkabort.deb"))?;
    fs::copy(archive, root.folder.join("opt/vkabort.tar.gz"))?;
    for (name, install, remove) in [
        ("package", "dpkg --install /opt/vkabort.deb", "dpkg --purge vkabort"),
        (
            "archive",
            "mkdir /tmp/new && tar -xzf /opt/vkabort.tar.gz -C /tmp/new && /tmp/new/*/install.sh",
            "/usr/local/lib/vkabort/uninstall.sh",
        ),
    ] {
        let before = root.files()?;
        root.run(install)?;
        let installed = root.files()?.difference(&before).count();
        root.example().with_context(|| format!("the installed {name}"))?;
        root.run(remove)?;
        root.run("rm -rf /tmp/new /tmp/home /tmp/messages.bin")?;
        let after = root.files()?;
        let changed: Vec<&String> = after.symmetric_difference(&before).collect();
        ensure!(changed.is_empty(), "the removed {name} leaves changes: {changed:?}");
        println!("{name}: installed {installed} files and folders, the C example aborted, removed all");
    }
    Ok(())
}

/// Compiles the C example and its shader into `folder`.
fn build_example(folder: &Path) -> Result<()> {
    if !Path::new("/usr/include/vulkan/vulkan.h").is_file() {
        debian::install(&["libvulkan-dev"], "building the example in C")?;
    }
    let source = root().join("examples/c");
    let mut glslang = Command::new(cargo::build_glslang()?);
    glslang
        .args(["-V", "-gVS", "--quiet", "sum.comp", "-o"])
        .arg(folder.join("sum.spv"));
    process::output(glslang.current_dir(&source))?;
    let mut cc = Command::new("cc");
    process::output(
        cc.args(["main.c", "-lvulkan", "-o"])
            .arg(folder.join("sum"))
            .current_dir(&source),
    )
    .map(drop)
}

/// A fresh Debian.
struct Root {
    folder: PathBuf,
}

impl Root {
    /// Runs a line there. Returns both outputs.
    fn run(&self, line: &str) -> Result<String> {
        let mut command = Command::new("chroot");
        command
            .arg(&self.folder)
            .args(["/usr/bin/env", "-i", "-C", "/tmp", "HOME=/tmp/home"]);
        command.args([
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
            "DEBIAN_FRONTEND=noninteractive",
            // It would be in the user's home.
            "MESA_SHADER_CACHE_DISABLE=true",
        ]);
        process::output(command.args(["sh", "-c", &format!("{line} 2>&1")]))
    }

    /// Runs the example without and with the implicit layer, and decodes its messages with the installed command.
    fn example(&self) -> Result<()> {
        let off = self.run("/opt/sum /opt/sum.spv || true")?;
        ensure!(!off.contains(REPORT), "the layer is on without {ENABLE}:\n{off}");
        let on = self.run(&format!("{ENABLE}=1 /opt/sum /opt/sum.spv"))?;
        ensure!(on.contains(REPORT), "no report:\n{on}");
        let decoded = self.run("vkabort decode messages.bin --sites /opt/sum.spv")?;
        ensure!(decoded.contains(REPORT), "not decoded:\n{decoded}");
        Ok(())
    }

    /// Paths, types and permissions of everything but dpkg's own records.
    fn files(&self) -> Result<BTreeSet<String>> {
        let mut find = Command::new("find");
        let lines = process::output(find.arg(&self.folder).args(["-printf", "%P %y %m\\n"]))?;
        let is_ours = |line: &&str| !OF_DPKG.iter().any(|folder| line.starts_with(folder));
        Ok(lines.lines().filter(is_ours).map(str::to_owned).collect())
    }
}
