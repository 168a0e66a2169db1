//! The command `vkabort` around programs, with the real layer on real drivers.

use crate::harness::{Ended, Placement, Scratch, environment, run_within};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vkabort_test_kit::drivers::{Driver, Known};
use vkabort_test_kit::layer::Layer;

/// What every such test needs.
pub struct Stand {
    /// The built layer.
    pub layer: Layer,
    /// The built command.
    pub command: PathBuf,
    /// A folder for what programs leave.
    pub scratch: Scratch,
}

impl Stand {
    /// Builds what is missing.
    ///
    /// # Errors
    ///
    /// A build fails.
    pub fn new() -> Result<Self> {
        Ok(Self {
            layer: vkabort_test_kit::layer::build()?,
            command: vkabort_test_kit::layer::build_command()?,
            scratch: Scratch::new()?,
        })
    }

    /// A program that sees this driver and no layer of ours.
    ///
    /// # Errors
    ///
    /// A folder cannot be made.
    pub fn program(&self, driver: &Driver, program: &Path) -> Result<Command> {
        environment(driver, &self.layer, Placement::WithoutLayer, &self.scratch.0)?.command(program)
    }

    /// `vkabort run` with these options around a program and its arguments.
    ///
    /// # Errors
    ///
    /// A folder cannot be made.
    pub fn run(&self, driver: &Driver, options: &[&str], program: &[&str]) -> Result<Command> {
        let mut command = self.program(driver, &self.command)?;
        command.args(["run", "--layer"]).arg(&self.layer.library).args(options);
        command.arg("--").args(program);
        Ok(command)
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// It does not start, or does not end.
    pub fn end(&self, command: &mut Command) -> Result<Ended> {
        run_within(command, Duration::from_secs(60), &self.scratch.0)
    }

    /// The program's working directory.
    pub fn home(&self) -> PathBuf {
        self.scratch.0.join("home")
    }
}

/// The drivers whose programs are started as they are.
pub fn drivers() -> Vec<Driver> {
    let all = Known::ALL.into_iter().filter_map(|known| known.find().ok());
    all.filter(|driver| driver.interpreter.is_none()).collect()
}

/// The exit code of a process that ended by itself.
///
/// # Errors
///
/// A signal ended it.
pub fn code(ended: &Ended) -> Result<i32> {
    ended.status.code().with_context(|| ended.said())
}
