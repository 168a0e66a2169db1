//! Tests of the command `vkabort` around programs, with the real layer on real drivers.

use crate::harness::{Placement, environment};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vkabort_runner::supervise::{Finished, run_with_limit};
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::{Driver, TestDriver};
use vkabort_test_kit::layer::Layer;
use vkabort_test_kit::scratch::{self, TempDir};

/// The command, the layer and a scratch folder.
pub struct CommandTest {
    /// The built layer.
    pub layer: Layer,
    /// The built command.
    pub command: PathBuf,
    /// A folder for files of programs.
    pub scratch: TempDir,
}

impl CommandTest {
    /// Builds the command and the layer.
    ///
    /// # Errors
    ///
    /// A build fails.
    pub fn new() -> Result<Self> {
        Ok(Self {
            layer: cargo::build_layer(Profile::OWN)?,
            command: cargo::build_command(Profile::OWN)?,
            scratch: scratch::folder()?,
        })
    }

    /// Command that runs a program on this driver, without our layer.
    ///
    /// # Errors
    ///
    /// A folder cannot be created.
    pub fn program(&self, driver: &Driver, program: &Path) -> Result<Command> {
        environment(driver, &self.layer, Placement::WithoutLayer, self.scratch.path())?.command(program)
    }

    /// `vkabort run` with these options around a program and its arguments.
    ///
    /// # Errors
    ///
    /// A folder cannot be created.
    pub fn run(&self, driver: &Driver, options: &[&str], program: &[&str]) -> Result<Command> {
        let mut command = self.program(driver, &self.command)?;
        command.args(["run", "--layer"]).arg(&self.layer.library).args(options);
        command.arg("--").args(program);
        Ok(command)
    }

    /// Runs a command to completion.
    ///
    /// # Errors
    ///
    /// The command cannot be started, or exceeds 60 s.
    pub fn finish(&self, command: &mut Command) -> Result<Finished> {
        run_with_limit(command, Duration::from_secs(60), self.scratch.path())
    }

    /// The program's working directory.
    pub fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }
}

/// Installed drivers that use the system's C library.
///
/// # Errors
///
/// There is none: a test that runs on each of them would check nothing.
pub fn drivers() -> Result<Vec<Driver>> {
    let all = TestDriver::ALL.into_iter().filter_map(|driver| driver.find().ok());
    let found: Vec<_> = all.filter(|driver| driver.interpreter.is_none()).collect();
    ensure!(
        !found.is_empty(),
        "no driver is installed: `cargo xtask drivers` installs them"
    );
    Ok(found)
}

/// The exit code of a process.
///
/// # Errors
///
/// A signal ended it.
pub fn exit_code(finished: &Finished) -> Result<i32> {
    finished.status.code().with_context(|| finished.output_tail())
}
