//! Runs the packed bundle as on a foreign machine, without the repository's environment.
#![allow(dead_code, reason = "each test program uses its part")]

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::TestDriver;
use vkabort_test_kit::scratch;
use vkabort_test_kit::scratch::TempDir;
use vkabort_tests::harness::{DRIVER_SETTINGS, drivers_are_required};

/// Packs the program as `cargo xtask bundle` does.
pub fn bundle() -> Result<&'static Path> {
    static PACKED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let packed = PACKED.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vkabort-bundle");
        let pack = |out: &Path| -> Result<()> {
            let files = vkabort_test_kit::bundle::files(Profile::OWN)?.carried()?;
            vkabort_test_kit::archive::pack(Path::new(env!("CARGO_BIN_EXE_vkabort-bundle")), &files, out)
        };
        pack(&out).map(|()| out).map_err(|error| format!("{error:#}"))
    });
    packed.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// Packs the program with these files overwritten.
pub fn with_damage(paths: &[&str], out: &Path) -> Result<()> {
    let mut carried = vkabort_test_kit::bundle::files(Profile::OWN)?.carried()?;
    for path in paths {
        let file = carried.iter_mut().find(|file| file.path == *path);
        file.context("no such file")?.bytes = b"something else".to_vec();
    }
    vkabort_test_kit::archive::pack(Path::new(env!("CARGO_BIN_EXE_vkabort-bundle")), &carried, out)
}

/// A simulated foreign machine: drivers and a folder for temporary files.
pub struct Machine {
    /// Folder of all its files.
    pub scratch: TempDir,
    /// Driver manifests.
    pub drivers: Vec<PathBuf>,
    driver_settings: &'static str,
}

impl Machine {
    /// A machine with the test driver, configured by `settings`.
    pub fn with_driver(settings: &'static str) -> Result<Self> {
        let machine = Self {
            scratch: scratch::folder()?,
            drivers: vec![cargo::build_test_driver(Profile::OWN)?.manifest],
            driver_settings: settings,
        };
        fs::create_dir_all(machine.temporary())?;
        fs::create_dir_all(machine.out())?;
        Ok(machine)
    }

    /// The same plus lavapipe. None if lavapipe is missing and not required.
    pub fn with_lavapipe(settings: &'static str) -> Result<Option<Self>> {
        let mut machine = Self::with_driver(settings)?;
        match TestDriver::Lavapipe.find() {
            Ok(driver) => machine.drivers.push(driver.manifest),
            Err(reason) if drivers_are_required() => bail!("{reason}"),
            Err(_) => return Ok(None),
        }
        Ok(Some(machine))
    }

    pub fn temporary(&self) -> PathBuf {
        self.scratch.path().join("temporary")
    }

    pub fn out(&self) -> PathBuf {
        self.scratch.path().join("out")
    }

    pub fn command(&self, words: &[&str]) -> Result<Command> {
        self.command_of(bundle()?, words)
    }

    pub fn command_of(&self, program: &Path, words: &[&str]) -> Result<Command> {
        let drivers = std::env::join_paths(&self.drivers)?;
        // Closed standard input, no home, a read-only working directory. Resets the signals, since ignored ones are
        // inherited from the test runner.
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec env --default-signal \"$0\" \"$@\" <&-"])
            .arg(program)
            .args(words)
            .current_dir("/proc")
            .env_remove("HOME")
            .env("TMPDIR", self.temporary())
            .env("VK_DRIVER_FILES", &drivers)
            .env("VK_ICD_FILENAMES", &drivers)
            .env(DRIVER_SETTINGS, self.driver_settings);
        Ok(command)
    }

    /// Runs the program to completion and checks that it leaves no files.
    pub fn run(&self, words: &[&str]) -> Result<Run> {
        let ran = Run(self.command(words)?.output()?);
        self.check_tidy()?;
        Ok(ran)
    }

    pub fn check_tidy(&self) -> Result<()> {
        let left: Vec<_> = fs::read_dir(self.temporary())?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        ensure!(left.is_empty(), "left behind: {left:?}");
        Ok(())
    }
}

/// Output of a run.
pub struct Run(
    /// The process's output.
    pub Output,
);

impl Run {
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Checks the exit code and that the output contains each text.
    pub fn check(&self, code: i32, texts: &[&str]) -> Result<()> {
        let output = format!("{}{}", self.out(), self.err());
        ensure!(self.0.status.code() == Some(code), "{}\n{output}", self.0.status);
        for text in texts {
            ensure!(output.contains(text), "{text:?} is not in\n{output}");
        }
        Ok(())
    }

    /// Numbers in a part's row: passed, failed, skipped.
    pub fn row(&self, part: &str) -> Result<[usize; 3]> {
        let out = self.out();
        let mut lines = out.lines().map(str::split_whitespace);
        let row = lines.find_map(|mut words| (words.next() == Some(part)).then_some(words));
        let numbers: Vec<usize> = row
            .with_context(|| format!("no row for {part}\n{out}"))?
            .take(3)
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        numbers
            .try_into()
            .map_err(|_| anyhow::anyhow!("the row does not have three numbers"))
    }
}
