//! One case on one target, and the process that runs it.

use super::outcome::{Outcome, outcome};
use super::{DRIVER_SETTINGS, Placement, STRESS_ROUNDS, environment, wine};
use crate::case::{self, Case};
use crate::{files, shader_cache};
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vkabort_test_kit::drivers::Driver;
use vkabort_test_kit::layer::{Layer, NATIVE_VARIABLE_PREFIX, VARIABLE_PREFIX};
use vkabort_test_kit::scratch;
use vkabort_test_kit::spirv_tools;
use vkabort_test_kit::supervise::{Finished, run_with_limit};
use vkabort_test_kit::vk::DEVICE_VARIABLE;
use vkabort_test_kit::wine::{DriverSystem, translated};

/// Driver, device and environment of cases.
#[derive(Clone, Debug)]
pub struct Target {
    /// The driver; None: the machine's drivers.
    pub driver: Option<Driver>,
    /// Name of the device, for drivers with several.
    pub device: Option<String>,
    /// The layer.
    pub layer: Layer,
    /// The program that runs a case, and its arguments before the case's name.
    pub program: (PathBuf, Vec<String>),
    /// Wine's program, if the program and the layer are for Windows.
    pub wine: Option<PathBuf>,
    /// Folder for the scratch folders of processes; by default in Cargo's target folder.
    pub folder: Option<PathBuf>,
    /// Folder in which processes share compiled shaders.
    pub shader_cache: Option<PathBuf>,
    /// Settings of the layer, by key. A case's own settings override them.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Share of long lists of inputs: its index, and the number of shares.
    pub share: (usize, usize),
    /// Seconds after which a case starts no further input of such a list.
    pub seconds: Option<u64>,
}

/// A case on a target.
#[derive(Clone, Debug)]
pub struct Job {
    /// The case.
    pub case: Case,
    /// The target.
    pub target: Target,
    /// The layers.
    pub placement: Placement,
}

impl Job {
    /// Runs the case in a separate process, for `limit` at most.
    ///
    /// # Errors
    ///
    /// The case failed, or its process cannot be started.
    pub fn run(&self, limit: Duration) -> Result<Outcome> {
        let (mut finished, mut log) = self.run_once(limit)?;
        let is_in_wine = self.target.wine.is_some();
        if is_in_wine && wine::is_killed_by_server(finished.status) {
            (finished, log) = self.run_once(limit)?;
        }
        outcome(&self.case, is_in_wine, &finished, &log)
    }

    /// Runs the case in a separate process. Returns its end and its log.
    fn run_once(&self, limit: Duration) -> Result<(Finished, String)> {
        let (target, case) = (&self.target, &self.case);
        let scratch = match &target.folder {
            Some(folder) => scratch::folder_in(folder)?,
            None => scratch::folder()?,
        };
        let mut command = self.command(scratch.path())?;
        command.arg(case.name);
        // The machine's own drivers and loader may write to stderr, so the layer gets a log file.
        let has_log_file = case.settings.iter().any(|(key, _)| *key == "log_file");
        let log = (target.driver.is_none() && !has_log_file).then(|| scratch.path().join("layer.log"));
        if let Some(log) = &log {
            command.env(format!("{VARIABLE_PREFIX}LOG_FILE"), log);
        }
        let finished = run_with_limit(&mut command, limit, scratch.path())?;
        let log = match log {
            Some(file) => fs::read_to_string(file).unwrap_or_default(),
            None => finished.stderr.clone(),
        };
        Ok((finished, log))
    }

    /// The process of the case, without the case's name. `scratch` becomes its home.
    pub(super) fn command(&self, scratch: &Path) -> Result<Command> {
        let (target, case) = (&self.target, &self.case);
        let (program, arguments) = &target.program;
        let environment = environment(target.driver.as_ref(), &target.layer, self.placement, scratch)?;
        let mut command = environment.command(program)?;
        let (index, shares) = target.share;
        command
            .args(arguments)
            .env(case::SHARE, format!("{index}/{shares}"))
            .envs(case.variables.iter().copied());
        for (key, value) in target.settings.iter().chain(case.settings) {
            command.env(format!("{VARIABLE_PREFIX}{}", key.to_uppercase()), value);
        }
        // The copy of the layer that simulates a driver must not log.
        command.env(format!("{NATIVE_VARIABLE_PREFIX}LOG_LEVEL"), "off");
        command.envs(case.driver.map(|settings| (DRIVER_SETTINGS, settings)));
        command.envs(target.device.as_ref().map(|device| (DEVICE_VARIABLE, device)));
        command.envs(target.seconds.map(|seconds| (case::SECONDS, seconds.to_string())));
        command.envs(
            target
                .shader_cache
                .as_ref()
                .map(|folder| (shader_cache::VARIABLE, folder)),
        );
        for name in [case::RUNNER, STRESS_ROUNDS, files::VARIABLE, spirv_tools::VARIABLE] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        let driver = match case.driver {
            Some(_) => DriverSystem::Windows,
            None => DriverSystem::Linux,
        };
        Ok(match &target.wine {
            Some(wine) => translated(&command, wine, driver),
            None => command,
        })
    }
}
