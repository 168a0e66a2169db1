//! A fresh Debian in a folder: its files, and those added to try the packages.

use crate::zig;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_manifest::ENABLE;
use vkabort_test_kit::{cargo, process, root as repository};

/// Folders in which dpkg keeps records of its own.
const OF_DPKG: [&str; 3] = ["var/lib/dpkg/", "var/log/", "var/cache/"];

/// The beginning of the report of the C example.
pub const REPORT: &str = "shader aborted: index 4000000";

/// The folder.
pub struct Root {
    /// Its path on this machine.
    pub folder: PathBuf,
}

/// Runs a command. Returns its output, errors included.
///
/// # Errors
///
/// The command cannot be started or fails; the error quotes its output.
pub fn shown(command: &mut Command) -> Result<String> {
    let line = process::command_line(command);
    let ended = command.output().with_context(|| format!("cannot start `{line}`"))?;
    let text = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "`{line}` failed ({}):\n{text}", ended.status);
    Ok(text.into_owned())
}

impl Root {
    /// Copies the packages, the examples in C and the compiled shader to `/opt`.
    pub fn add_files(&self, packages: &[PathBuf], archive: &Path) -> Result<()> {
        let opt = self.folder.join("opt");
        fs::create_dir_all(&opt)?;
        for package in packages {
            fs::copy(package, opt.join(package.file_name().unwrap_or_default()))?;
        }
        fs::copy(archive, opt.join("vkabort.tar.gz"))?;
        for example in ["c", "crash-handler"] {
            let mut copy = Command::new("cp");
            copy.arg("--recursive")
                .arg(repository().join("examples").join(example))
                .arg(&opt);
            process::output(&mut copy)?;
        }
        let mut compiler = Command::new(cargo::build_glslang()?);
        compiler
            .args(["-V", "-gVS", "--quiet", "sum.comp", "-o"])
            .arg(opt.join("sum.spv"));
        process::output(compiler.current_dir(repository().join("examples/c"))).map(drop)
    }

    /// Compiles the example for another target into `/opt`, with the Vulkan loader in `libraries` and this machine's headers of
    /// Vulkan, to which links are written into `headers`.
    pub fn build_example(&self, target: &str, libraries: &Path, headers: &Path, name: &str) -> Result<()> {
        // The headers alone: beside them are those of this machine's C library.
        fs::create_dir_all(headers)?;
        for name in ["vulkan", "vk_video"] {
            std::os::unix::fs::symlink(Path::new("/usr/include").join(name), headers.join(name))?;
        }
        let mut cc = zig::cc(target)?;
        cc.arg(self.folder.join("opt/c/main.c")).arg("-I").arg(headers);
        // The loader needs a newer glibc than the one that the example is linked with.
        cc.arg(libraries.join("libvulkan.so.1"))
            .arg("-Wl,--allow-shlib-undefined");
        process::output(cc.arg("-o").arg(self.folder.join("opt").join(name))).map(drop)
    }

    /// Runs the example without and with the implicit layer, and decodes its messages with the installed command. `run`
    /// starts a command line with variables there and returns its output.
    pub fn try_layer(run: impl Fn(&[(&str, &str)], &[&str]) -> Result<String>) -> Result<()> {
        let sum = ["/opt/sum", "/opt/sum.spv"];
        let off = run(&[], &sum);
        let shown = off.unwrap_or_else(|error| format!("{error:#}"));
        ensure!(
            !shown.contains(REPORT) && shown.contains("VK_KHR_shader_abort"),
            "without {ENABLE}, the example does not miss the extension:\n{shown}"
        );
        let on = run(&[(ENABLE, "1")], &sum)?;
        ensure!(on.contains(REPORT), "no report:\n{on}");
        let decoded = run(&[], &["vkabort", "decode", "messages.bin", "--sites", "/opt/sum.spv"])?;
        ensure!(decoded.contains(REPORT), "not decoded:\n{decoded}");
        Ok(())
    }

    /// Paths, types and permissions of everything but dpkg's own records.
    pub fn files(&self) -> Result<BTreeSet<String>> {
        let mut find = Command::new("find");
        let lines = process::output(find.arg(&self.folder).args(["-printf", "%P %y %m\\n"]))?;
        let is_ours = |line: &&str| !OF_DPKG.iter().any(|folder| line.starts_with(folder));
        Ok(lines.lines().filter(is_ours).map(str::to_owned).collect())
    }

    /// Installs, tries and removes something, after which the files have to be as before.
    pub fn try_and_remove(
        &self,
        name: &str,
        install: impl FnOnce() -> Result<()>,
        try_it: impl FnOnce() -> Result<()>,
        remove: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let before = self.files()?;
        install()?;
        let installed = self.files()?.difference(&before).count();
        try_it().map_err(|error| error.context(format!("the installed {name}")))?;
        remove()?;
        let after = self.files()?;
        let changed: Vec<&String> = after.symmetric_difference(&before).collect();
        ensure!(changed.is_empty(), "the removed {name} leaves changes: {changed:?}");
        println!("{name}: installed {installed} files and folders, tried them, removed all");
        Ok(())
    }
}
