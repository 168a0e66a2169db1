//! `cargo xtask demo` runs the demo on a driver of this machine.

use crate::provision;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::ExitStatus;
use vkabort_test_kit::cargo::{self, Profile};
use vkabort_test_kit::drivers::{self, Driver, TestDriver};
use vkabort_test_kit::environment::{Environment, Validation};
use vkabort_test_kit::{process, target};

/// The demo's exit code when there is no Vulkan device.
const NO_DEVICE: i32 = 3;

/// Installs missing tools, builds the demo and runs it. Returns its exit status.
///
/// # Errors
///
/// A package cannot be installed, or a build fails.
pub fn demo(driver: &str, validation: Validation, without_layer: bool) -> Result<ExitStatus> {
    let chosen = choose(driver)?;
    eprintln!("Building the layer and the demo. The first time, this takes some minutes.");
    let mut environment = Environment {
        native: false,
        layer: if without_layer {
            None
        } else {
            Some(cargo::build_layer(Profile::Dev)?)
        },
        validation: match validation {
            Validation::Off => None,
            place => Some((place, validation_folder(chosen.as_ref())?)),
        },
        driver: chosen,
        scratch: target().join("vkabort/demo"),
    };
    let program = cargo::build_demo(Profile::Dev)?;
    let status = start(&environment, &program)?;
    if driver != "auto" || status.code() != Some(NO_DEVICE) {
        return Ok(status);
    }
    println!("\nThis machine's drivers have no device; using lavapipe, which runs on the CPU.");
    environment.driver = choose(TestDriver::Lavapipe.name())?;
    start(&environment, &program)
}

fn start(environment: &Environment, program: &Path) -> Result<ExitStatus> {
    let mut command = environment.command(program)?;
    command
        .status()
        .with_context(|| format!("cannot start `{}`", process::command_line(&command)))
}

/// The driver of that name, installed if it is missing. `None` for the machine's own drivers.
fn choose(name: &str) -> Result<Option<Driver>> {
    if name == "auto" {
        return provision::system_driver().map(|()| None);
    }
    if Path::new(name).is_file() {
        return Ok(Some(Driver::of_manifest(&Path::new(name).canonicalize()?)));
    }
    let Some(driver) = TestDriver::ALL.into_iter().find(|driver| driver.name() == name) else {
        let names: Vec<_> = TestDriver::ALL.map(TestDriver::name).to_vec();
        bail!(
            "`{name}` is not a driver; use auto, {}, or the path of a driver manifest",
            names.join(", ")
        );
    };
    provision::bring(driver, &mut None)?;
    driver.find().map(Some).map_err(anyhow::Error::msg)
}

fn validation_folder(driver: Option<&Driver>) -> Result<std::path::PathBuf> {
    if drivers::validation_layer(driver).is_err() {
        provision::bring(TestDriver::SwiftShader, &mut None)?;
    }
    drivers::validation_layer(driver).map_err(anyhow::Error::msg)
}
