//! Runs of the cube on one driver, with our layer and the validation layer or without them.

use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use vkabort_runner::supervise::Finished;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::display::Display;
use vkabort_test_kit::drivers::{self, Driver, TestDriver};
use vkabort_test_kit::environment::{Environment, Validation};
use vkabort_test_kit::layer::Layer;
use vkabort_test_kit::scratch::{self, TempDir};

/// A folder for the files of one run, and the layer.
pub struct Test {
    pub layer: Layer,
    scratch: TempDir,
}

/// The display, and the layers under which the cube runs.
pub struct Setting<'a> {
    /// None: without a window.
    pub display: Option<&'a Display>,
    pub has_layer: bool,
    pub validation: Validation,
}

impl Test {
    pub fn new() -> Result<Self> {
        Ok(Self {
            layer: cargo::build_layer(Profile::OWN)?,
            scratch: scratch::folder()?,
        })
    }

    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    pub fn screenshot(&self) -> PathBuf {
        self.folder().join("last_frame.png")
    }

    /// The cube on a driver, without arguments.
    pub fn command(&self, driver: &Driver, setting: &Setting<'_>) -> Result<Command> {
        let validation = match setting.validation {
            Validation::Off => None,
            place => Some((
                place,
                drivers::validation_layer(Some(driver)).map_err(anyhow::Error::msg)?,
            )),
        };
        let environment = Environment {
            driver: Some(driver.clone()),
            layer: setting.has_layer.then(|| self.layer.clone()),
            native: false,
            validation,
            scratch: self.folder().to_path_buf(),
        };
        let mut command = environment.command(Path::new(env!("CARGO_BIN_EXE_vkabort-cube")))?;
        if let Some(display) = setting.display {
            command.env("DISPLAY", display.name());
        }
        Ok(command)
    }
}

/// The cube ended well, and the validation layer was silent.
pub fn expect_success(ended: &Finished) -> Result<()> {
    ensure!(ended.status.success(), "{}: {}", ended.status, ended.output_tail());
    // The validation layer writes to standard output.
    ensure!(!ended.stdout.contains("Validation"), "{}", ended.output_tail());
    Ok(())
}

/// Every installed driver that runs programs with the system's C library, and of the others those without a window.
pub fn all_drivers() -> Vec<Driver> {
    TestDriver::ALL
        .into_iter()
        .filter_map(|driver| driver.find().ok())
        .collect()
}

/// A driver with a C library of its own has no libraries for windows.
pub fn has_windows(driver: &Driver) -> bool {
    driver.interpreter.is_none()
}
