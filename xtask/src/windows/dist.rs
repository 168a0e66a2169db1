//! `cargo xtask dist --windows` builds the archive. `--check`: it does not depend on the folder that it is built in; installed by
//! its note in a new Wine prefix, it works as far as Wine lets it; removed, it leaves nothing behind.
//!
//! Wine's processes are elevated, so the released layer must do nothing in them. The abort is shown by the same sources built
//! for Wine, in the place of the released files.

use super::build::{built, cargo, install_linker};
use super::package::{self, NAME};
use super::wine::Wine;
use super::{ABORTED, FOR_WINE, NO_EXTENSION, expect, loader, set_up};
use crate::dist::reproducible;
use crate::provision;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_manifest::{ENABLE, LIBRARY_WINDOWS};
use vkabort_test_kit::drivers::TestDriver;
use vkabort_test_kit::{process, root, target};
use zip::ZipArchive;

/// Exit code of `vkabort doctor` if no device supports aborts.
const UNSUPPORTED: i32 = 5;
/// The beginning of the report of the C example.
const REPORT: &str = "shader aborted: index 4000000";

/// Builds the archive and prints its path. With `check`, builds it twice, and installs, uses and removes it in Wine.
///
/// # Errors
///
/// A package cannot be installed, the build or a check fails.
pub fn dist(check: bool) -> Result<()> {
    install_linker()?;
    let folder = target().join("packages");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{NAME}.zip"));
    package::build(&root(), &target().join("dist-build"), &path)?;
    println!("{} ({} KiB)", path.display(), fs::metadata(&path)?.len() / 1024);
    if check {
        check_archive(&path)?;
    }
    Ok(())
}

/// Checks the archive `zip`.
fn check_archive(zip: &Path) -> Result<()> {
    let folder = target().join("dist-check-windows");
    let _ = fs::remove_dir_all(&folder);
    let copy = folder.join("a copy of the sources");
    reproducible::copy_sources(&copy)?;
    let again = folder.join("again.zip");
    package::build(&copy, &folder.join("build"), &again)?;
    reproducible::compare(zip, &again)?;
    println!("built twice: equal archives");
    set_up()?;
    let prefix = Prefix::new(&folder)?;
    ZipArchive::new(File::open(zip)?)?.extract(&prefix.wine.folder)?;
    prefix.build_example()?;
    println!("The released files, in Wine's elevated processes:");
    prefix.install_and_remove(NO_EXTENSION)?;
    let mut build = cargo("build", &["layer", "cli"]);
    process::run(build.env(FOR_WINE, "1"))?;
    for program in ["vkabort.exe", LIBRARY_WINDOWS] {
        fs::copy(built(program), prefix.wine.folder.join(NAME).join(program))?;
    }
    println!("Built without regard to elevation:");
    let shown = prefix.both(prefix.vkabort(&["run", ".\\sum.exe", "sum.spv"]), ABORTED)?;
    ensure!(shown.contains(REPORT), "`vkabort run` shows no report:\n{shown}");
    prefix.install_and_remove(0)?;
    drop(prefix);
    Ok(fs::remove_dir_all(&folder)?)
}

/// A new Wine prefix with the Khronos loader, and the programs in a folder.
struct Prefix {
    wine: Wine,
    system: PathBuf,
    driver: PathBuf,
}

impl Prefix {
    fn new(folder: &Path) -> Result<Self> {
        let wine = Wine::start(&folder.join("wine"))?;
        fs::create_dir_all(&wine.folder)?;
        let system = folder.join("wine/prefix/drive_c");
        fs::copy(loader::library(), system.join("windows/system32/vulkan-1.dll"))?;
        let driver = TestDriver::Lavapipe.find().map_err(anyhow::Error::msg)?.manifest;
        Ok(Self { wine, system, driver })
    }

    /// Compiles the C example and its shader.
    fn build_example(&self) -> Result<()> {
        let source = root().join("examples/c");
        // The headers alone: beside them are those of this machine's C library.
        let headers = self.wine.folder.join("headers");
        fs::create_dir_all(&headers)?;
        for name in ["vulkan", "vk_video"] {
            std::os::unix::fs::symlink(Path::new("/usr/include").join(name), headers.join(name))?;
        }
        let mut gcc = Command::new("x86_64-w64-mingw32-gcc");
        gcc.arg(source.join("main.c")).arg("-I").arg(&headers);
        gcc.arg(loader::library()).args(["-o", "sum.exe"]);
        process::output(gcc.current_dir(&self.wine.folder))?;
        fs::remove_dir_all(&headers)?;
        let mut compiler = Command::new(provision::bring_glslang(&mut None)?);
        compiler.args(["-V", "-gVS", "--quiet", "sum.comp", "-o"]);
        compiler.arg(self.wine.folder.join("sum.spv")).current_dir(source);
        process::output(&mut compiler).map(drop)
    }

    /// The command of the archive.
    fn vkabort(&self, words: &[&str]) -> Command {
        let mut command = self.wine.command(&format!("{NAME}\\vkabort.exe"), &self.driver);
        command.args(words);
        command
    }

    /// Registers the layer for all users, and runs the example, which ends with `code` and shows its abort if that is 0.
    /// Removes the layer; registry and files must be as before.
    fn install_and_remove(&self, code: i32) -> Result<()> {
        let before = self.state()?;
        expect(&mut self.vkabort(&["install", "--system"]), 0)?;
        let registered = self.registry()?;
        ensure!(
            registered.contains("VK_LAYER_vkabort_shader_abort.json"),
            "the layer is not in the registry:\n{registered}"
        );
        let doctor = if code == 0 { 0 } else { UNSUPPORTED };
        expect(&mut self.vkabort(&["doctor"]), doctor)?;
        let mut sum = self.wine.command("sum.exe", &self.driver);
        sum.arg("sum.spv").env(ENABLE, "1");
        let shown = self.both(sum, code)?;
        ensure!(shown.contains(REPORT) == (code == 0), "the example prints:\n{shown}");
        expect(self.wine.command("sum.exe", &self.driver).arg("sum.spv"), NO_EXTENSION)?;
        if code == 0 {
            let shown = self.both(self.vkabort(&["decode", "messages.bin", "--sites", "sum.spv"]), 0)?;
            ensure!(shown.contains(REPORT), "not decoded:\n{shown}");
        }
        expect(&mut self.vkabort(&["uninstall", "--system"]), 0)?;
        let after = self.state()?;
        let changed: Vec<&String> = after.symmetric_difference(&before).collect();
        ensure!(changed.is_empty(), "the removed layer leaves changes: {changed:#?}");
        Ok(())
    }

    /// Runs a command, which must end with a code. Returns its output.
    fn both(&self, mut command: Command, code: i32) -> Result<String> {
        let line = process::command_line(&command);
        let ended = command.output().with_context(|| format!("cannot start `{line}`"))?;
        let text = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        ensure!(
            ended.status.code() == Some(code),
            "`{line}` ended with {}:\n{text}",
            ended.status
        );
        Ok(text.into_owned())
    }

    /// Vulkan's part of the registry.
    fn registry(&self) -> Result<String> {
        let mut text = String::new();
        for hive in ["HKLM", "HKCU"] {
            let mut query = self.wine.command("reg", &self.driver);
            // A key that is missing is an error of `reg`.
            let ended = query
                .args(["query", &format!("{hive}\\Software\\Khronos"), "/s"])
                .output()?;
            text += &String::from_utf8_lossy(&ended.stdout);
        }
        ensure!(
            text.contains("winevulkan"),
            "`reg query` does not list Wine's driver:\n{text}"
        );
        Ok(text)
    }

    /// The keys and entries of Vulkan's part of the registry, and the files and folders of the prefix.
    fn state(&self) -> Result<BTreeSet<String>> {
        let mut find = Command::new("find");
        let files = process::output(
            find.arg(&self.system)
                .args(["-path", "*/Temp", "-prune", "-o", "-print"]),
        )?;
        let registry = self.registry()?;
        Ok(registry.lines().chain(files.lines()).map(str::to_owned).collect())
    }
}
