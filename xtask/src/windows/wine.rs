//! Wine, with a prefix and a display of its own.

use super::build::TARGET;
use super::loader;
use crate::toolchain;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use vkabort_test_kit::wine::program;
use vkabort_test_kit::{process, target};

/// A running display, and the prefix. Dropping it ends both.
pub struct Wine {
    /// The folder of the Windows programs and of the loader.
    pub folder: PathBuf,
    program: PathBuf,
    prefix: PathBuf,
    display: String,
    server: Child,
}

impl Wine {
    /// Starts a display, which Wine's Vulkan needs before Wine's server starts, and creates the prefix in `folder` if it is missing.
    ///
    /// # Errors
    ///
    /// The display or Wine cannot be started.
    pub fn start(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start Xvfb")?;
        let mut number = String::new();
        if let Some(out) = server.stdout.take() {
            BufReader::new(out).read_line(&mut number)?;
        }
        let wine = Self {
            program: program()?,
            prefix: folder.join("prefix"),
            folder: folder.join("programs"),
            display: format!(":{}", number.trim()),
            server,
        };
        if number.trim().is_empty() {
            bail!("Xvfb does not start");
        }
        let system = wine.prefix.join("drive_c/windows/system32");
        if !system.is_dir() {
            println!("Creating a Wine prefix in {}.", wine.prefix.display());
            let mut boot = Command::new(&wine.program);
            wine.prepare(&mut boot);
            process::output(boot.args(["wineboot", "--init"]))?;
        }
        fs::copy(loader::random(), system.join(loader::RANDOM))?;
        Ok(wine)
    }

    /// A Windows program of [`Self::folder`], on a Linux driver, with no layers but the given ones.
    pub fn command(&self, program: &str, driver: &Path) -> Command {
        let mut command = Command::new(&self.program);
        self.prepare(&mut command);
        command
            .arg(program)
            .current_dir(&self.folder)
            // Wine keeps variables of this prefix from Windows programs: it reaches the Linux loader only.
            .env("VK_DRIVER_FILES", driver)
            .env("VK_ICD_FILENAMES", driver)
            .env("MESA_SHADER_CACHE_DIR", target().join("mesa_shader_cache"));
        command
    }

    /// Sets the environment of a command that runs Windows programs.
    pub fn prepare(&self, command: &mut Command) {
        command
            .env("WINEPREFIX", &self.prefix)
            .env("DISPLAY", &self.display)
            .env("WINEDEBUG", "-all")
            // The Khronos loader beside the program, and no offer to install what web pages and .NET programs need.
            .env("WINEDLLOVERRIDES", "vulkan-1=n;mscoree,mshtml=")
            .env(toolchain::target_variable(TARGET, "RUNNER"), &self.program);
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        // Ends the background programs of the prefix, which keep the display open. None may be left.
        let mut end = Command::new(self.program.with_file_name("wineserver"));
        let _ = end.arg("--kill").env("WINEPREFIX", &self.prefix).status();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
